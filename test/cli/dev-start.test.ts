import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { APP, route, startDev, type DevServer } from './dev-server.ts'

/** Listens, and is not ready before this code has run. */
const serverThat = (code: string): string => `import { join } from 'node:path'
import { env, loadRoutes } from 'mortar'
import { app } from './app.ts'

await loadRoutes(app, join(import.meta.dirname, 'routes'))
const { url } = await app.listen(env.port('PORT'), '127.0.0.1')
process.stdout.write(\`listens at \${url}\\n\`)
const changed = new Promise((resolve) => process.on('message', ({ type }) => type === 'changed' && resolve()))
${code}
`

const REFUSED = `export const auth = true\n${route('refused')}`

describe('mortar dev, between the first request and the end of the start', function () {
  let server: DevServer

  async function start(code: string): Promise<number | undefined> {
    const routes = { 'routes/index.get.ts': route('one'), 'routes/old.get.ts': route('old') }
    server = await startDev({ 'app.ts': APP, 'server.ts': serverThat(code), ...routes }, /listens at/)
    return (await server.get()).body.pid
  }

  afterEach(async () => {
    expect(await server.serving.stop(), server.serving.output.text()).to.equal(0)
    server.project.remove()
  })

  it('serves the old version of a route that breaks, and all others', async () => {
    const pid = await start('await changed')
    server.project.write({
      'routes/index.get.ts': REFUSED,
      'routes/broken.get.ts': REFUSED,
      'routes/added.get.ts': route('added'),
    })
    const added = await server.until('/added', ({ status }) => status === 200)
    expect(added.broken).to.include('index.get.ts').and.to.include('broken.get.ts')
    expect((await server.get()).body).to.include({ text: 'one', pid })
    expect((await server.get('/broken')).status).to.equal(404)
    server.project.write({ 'routes/index.get.ts': route('two'), 'routes/broken.get.ts': route('repaired') })
    expect((await server.until('/', ({ broken }) => broken === null)).body).to.include({ text: 'two', pid })
    expect((await server.get('/broken')).body.text).to.equal('repaired')
  })

  for (const [what, code] of [
    ['fails', `await changed.then(() => { throw new Error('unlucky') })`],
    ['does not end', 'await new Promise(() => undefined)'],
  ] as const)
    it(`starts again with the change if the rest of server.ts ${what}`, async () => {
      const pid = await start(code)
      server.project.write({ 'routes/index.get.ts': route('two') })
      const { body } = await server.until('/', ({ body: { text } }) => text === 'two')
      expect(body.pid).not.to.equal(pid)
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
