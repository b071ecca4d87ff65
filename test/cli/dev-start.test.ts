import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { APP, route, startDev } from './dev-server.ts'

/** Listens, and never ends. */
const ENDLESS = `import { join } from 'node:path'
import { env, loadRoutes } from 'mortar'
import { app } from './app.ts'

await loadRoutes(app, join(import.meta.dirname, 'routes'))
const { url } = await app.listen(env.port('PORT'), '127.0.0.1')
process.stdout.write(\`listens at \${url}\\n\`)
await new Promise(() => undefined)
`

describe('mortar dev, while server.ts has not ended', () => {
  it('serves requests, and follows a change', async () => {
    const files = { 'app.ts': APP, 'server.ts': ENDLESS, 'routes/index.get.ts': route('one') }
    const server = await startDev(files, /listens at/)
    try {
      expect((await server.get()).body.text).to.equal('one')
      server.project.write({ 'routes/index.get.ts': route('two') })
      await server.until('/', ({ body: { text } }) => text === 'two')
    } finally {
      expect(await server.serving.stop(), server.serving.output.text()).to.equal(0)
      server.project.remove()
    }
  })
})

describe('mortar dev, with a process that is killed', () => {
  it('responds on a connection that the process had not accepted', async () => {
    const server = await startDev({ 'app.ts': APP, 'routes/index.get.ts': route('one') })
    try {
      const pid = (await server.get()).body.pid!
      process.kill(pid, 'SIGSTOP')
      const answers = [server.get(), server.get()]
      // For the watching process to pass on both. If it is slower, the test shows nothing.
      await pause(200)
      process.kill(pid, 'SIGKILL')
      for (const { status } of await Promise.all(answers)) expect(status).to.equal(503)
      expect(server.serving.output.text()).to.include('The application ended')
    } finally {
      await server.serving.stop()
      server.project.remove()
    }
  })
})
