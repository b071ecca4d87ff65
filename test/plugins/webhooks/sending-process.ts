import { createApp } from 'mortar'
import { database } from '@mortar/database'
import { jobs } from '@mortar/jobs'
import * as jobsSchema from '@mortar/jobs/schema'
import { webhooks } from '@mortar/webhooks'
import * as webhooksSchema from '@mortar/webhooks/schema'
import { invoicePaid, LOCAL } from './events.ts'

/** A process that works on jobs of a folder and sends one message. The test kills it during the delivery. */
const [file = '', directory = ''] = process.argv.slice(2)
const app = createApp({ environment: 'development', logger: false })
  .use(database({ type: 'better-sqlite3', database: file, entities: [jobsSchema, webhooksSchema] }))
  .use(jobs({ directory }))
  .use(webhooks({ events: [invoicePaid], ...LOCAL }))
await app.listen(0, '127.0.0.1')
await app.services.webhooks.send(invoicePaid, { invoice: '1001' }, { owner: 'ada' })
