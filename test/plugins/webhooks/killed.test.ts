import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { testJobs } from '@mortar/jobs/testing'
import * as jobsSchema from '@mortar/jobs/schema'
import { createDataSource, type ConnectionOptions } from '@mortar/database'
import { webhooks } from '@mortar/webhooks'
import * as webhooksSchema from '@mortar/webhooks/schema'
import { createClock } from 'mortar/testing'
import { jobsApp } from '../jobs/applications.ts'
import { invoicePaid, LOCAL } from './events.ts'
import { startReceiver } from './receiver.ts'
import { bundleScript } from '../../support/bundle-script.ts'

const PROCESS = new URL('./sending-process.ts', import.meta.url).pathname

describe('A process that is killed while it delivers a webhook', () => {
  it('leaves the delivery to another process, which sends the same id and body again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mortar-webhooks-'))
    const receiver = await startReceiver()
    const database = join(folder, 'app.db')
    const connection: ConnectionOptions = {
      type: 'better-sqlite3',
      database,
      entities: [jobsSchema, webhooksSchema],
    }
    const setUp = await createDataSource(connection).initialize()
    await setUp.synchronize()
    await setUp.destroy()
    const clock = createClock()
    const app = jobsApp(connection, {}, { clock }).use(webhooks({ events: [invoicePaid], ...LOCAL }))
    await app.ready()
    const endpoints = app.services.webhooks.endpointsOf('ada')
    const { id } = await endpoints.add({ url: receiver.url })

    const asked = new Promise<void>((resolve) => {
      receiver.behaviour.respond = () => resolve()
    })
    const child = spawn(process.execPath, [await bundleScript(PROCESS), database, folder], {
      stdio: 'ignore',
    })
    const ended = once(child, 'exit')
    await asked
    child.kill('SIGKILL')
    await ended
    expect((await endpoints.deliveries(id))[0]).to.include({ state: 'waiting', attempts: 0 })

    receiver.behaviour.respond = (_request, response) => void response.writeHead(204).end()
    // The lease of the dead process ends.
    clock.set(Date.now() + 60_000)
    await testJobs(app).run()
    expect((await endpoints.deliveries(id))[0]).to.include({ state: 'delivered', attempts: 1 })
    const [first, second, ...more] = receiver.received
    expect(more).to.deep.equal([])
    expect(second!.headers['webhook-id']).to.equal(first!.headers['webhook-id'])
    expect(second!.body).to.equal(first!.body)
    await app.close()
    await receiver.close()
    await rm(folder, { recursive: true })
  })
})
