import { testJobs } from '@mortar/jobs/testing'
import * as jobsSchema from '@mortar/jobs/schema'
import { webhooks } from '@mortar/webhooks'
import * as webhooksSchema from '@mortar/webhooks/schema'
import { jobsApp, winterClock } from '../jobs/applications.ts'
import { invoicePaid } from './events.ts'

/** Sends a message to two names of one TLS server, then one to an address that is not allowed. Prints the log of both. */
const [port = '', directory = ''] = process.argv.slice(2)
let address = '127.0.0.1'
const clock = winterClock()
const entities = [jobsSchema, webhooksSchema]
const app = jobsApp(
  { type: 'better-sqlite3', database: ':memory:', entities, synchronize: true },
  { directory },
  { clock },
).use(
  webhooks({
    events: [invoicePaid],
    allowNetworks: ['127.0.0.1/32'],
    lookup: async () => [{ address, family: 4 }],
  }),
)
await app.ready()
const { webhooks: service } = app.services
const endpoints = service.endpointsOf('ada')
const localhost = await endpoints.add({ url: `https://localhost:${port}/` })
const other = await endpoints.add({ url: `https://other.example.com:${port}/` })
for (address of ['127.0.0.1', '127.0.0.2']) {
  await service.send(invoicePaid, { invoice: '1001' }, { owner: 'ada' })
  await testJobs(app)
    .run()
    .catch(() => undefined)
  // The first message is not repeated, and the second one is newer.
  clock.advance('1s')
}
const logs = await Promise.all([localhost, other].map(({ id }) => endpoints.deliveries(id)))
process.stdout.write(JSON.stringify(logs.map((log) => log.toReversed())))
await app.close()
