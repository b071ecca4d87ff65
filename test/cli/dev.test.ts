import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { APP, route, startDev, type DevServer } from './dev-server.ts'
import type { Serving, TestProject } from './project.ts'

const FILES = {
  'app.ts': APP,
  'routes/index.get.ts': route('one'),
  'routes/_words.ts': `export const word = 'first'\n`,
  'routes/word.get.ts': `import { word } from './_words.ts'\nexport default () => ({ text: word, pid: process.pid })\n`,
  'texts.ts': `import { mark } from './marks.ts'\nexport const text = 'Hello' + mark\n`,
  'marks.ts': `export const mark = '!'\n`,
  'routes/text.get.ts': `import { text } from '../texts.ts'\nexport default () => ({ text, pid: process.pid })\n`,
  'routes/events.get.ts': `export default (ctx) => {
  ctx.set('Content-Type', 'text/event-stream')
  return new ReadableStream({ start: (stream) => stream.enqueue(': open\\n\\n') })
}
`,
}

describe('mortar dev', function () {
  let project: TestProject
  let serving: Serving
  let port: number
  let get: DevServer['get']
  let until: DevServer['until']
  let untilServed: DevServer['untilServed']

  async function start(): Promise<void> {
    ;({ project, serving, port, get, until, untilServed } = await startDev(FILES))
  }

  async function stop(): Promise<void> {
    expect(await serving.stop(), serving.output.text()).to.equal(0)
    project.remove()
  }

  // One process for all tests, as a start takes seconds: each test leaves the files as they were.
  before(start)
  after(stop)

  // A failed test may have left others.
  afterEach(async function () {
    if (this.currentTest!.state === 'passed') return
    await stop()
    await start()
  })

  it('prints the addresses of the application and its pages', () => {
    expect(serving.output.text()).to.include(`App      http://127.0.0.1:${port}`).and.include('/docs')
  })

  it('follows a change of a route; no request fails', async () => {
    project.write({ 'routes/index.get.ts': route('two') })
    await untilServed('/', ({ body }) => body.text === 'two')
    project.write({ 'routes/index.get.ts': FILES['routes/index.get.ts'] })
    await until('/', ({ body }) => body.text === 'one')
  })

  it('adds, moves and removes routes and middleware, and the document follows', async () => {
    project.write({ 'routes/new/[id].get.ts': route('new', '../../app.ts') })
    await until('/new/1', ({ status }) => status === 200)
    expect(Object.keys(((await get('/openapi.json')).body as { paths: object }).paths)).to.include(
      '/new/{id}',
    )
    project.write({ 'routes/new/_middleware.ts': `export default () => ({ text: 'wrapped' })\n` })
    await until('/new/1', ({ body }) => body.text === 'wrapped')
    rmSync(join(project.directory, 'routes/new'), { recursive: true })
    await until('/new/1', ({ status }) => status === 404)
  })

  it('responds with the error of a broken route until it is fixed, and shows it in terminal and responses', async () => {
    // A file that is deleted while a process imports the routes is broken, too, until the next process starts.
    project.write({ 'routes/index.get.ts': 'export default () => ({' })
    await serving.output.until(/broken \S*index\.get\.ts[^]*MORTAR_ROUTE_IMPORT/)
    expect(await get()).to.have.nested.include({ status: 500, 'body.code': 'internal_error' })
    const other = await until('/text', ({ broken }) => broken !== null)
    expect([other.status, other.body.text]).to.deep.equal([200, 'Hello!'])
    expect(other.broken).to.include('index.get.ts')
    project.write({ 'routes/index.get.ts': FILES['routes/index.get.ts'] })
    await until('/', ({ body, broken }) => body.text === 'one' && broken === null)
  })

  it('follows the modules that routes import, with all that import them', async () => {
    project.write({ 'routes/_words.ts': `export const word = 'second'\n` })
    await until('/word', (answer) => answer.body.text === 'second')
    project.write({ 'marks.ts': `export const mark = '?'\n` })
    await until('/text', (answer) => answer.body.text === 'Hello?')
  })

  it('shows the error of a module that routes import, and follows a new module that is its remedy', async () => {
    project.write({ 'marks.ts': 'export const mark = ' })
    await until('/text', ({ status }) => status === 500)
    serving.output.clear()
    project.write({ 'marks.ts': `export { mark } from './routes/_other.ts'\n` })
    await serving.output.until(/broken[^]*_other/)
    project.write({ 'routes/_other.ts': `export const mark = '.'\n` })
    await until('/text', ({ body, broken }) => body.text === 'Hello.' && broken === null)
  })

  it('restarts after a change of a module that the application imports; no request fails', async () => {
    const { body } = await get()
    const stream = await fetch(`http://127.0.0.1:${port}/events`)
    project.write({ 'app.ts': `${FILES['app.ts']}hits.count = 40\n` })
    const answer = await untilServed('/', ({ body: { hits } }) => hits !== undefined && hits > 40)
    expect(answer.body.pid).not.to.equal(body.pid)
    // The open event stream has ended and has not delayed the restart until the process was killed.
    await stream.text()
    expect(serving.output.text()).not.to.include('was killed')
  })

  it('follows no output of a build: neither an unfinished nor a replaced one', async () => {
    serving.output.clear()
    for (const folder of ['dist', 'dist.new', 'dist.replaced'])
      project.write({ [`${folder}/app.js`]: 'export {}\n' })
    project.write({ 'routes/word.get.ts': `export default () => ({ text: 'third', pid: process.pid })\n` })
    await until('/word', ({ body }) => body.text === 'third')
    expect(serving.output.text()).not.to.match(/dist\S* changed/)
  })

  it('waits for a change if the application cannot start', async () => {
    project.write({ 'app.ts': `${FILES['app.ts']}throw new Error('unlucky')\n` })
    await serving.output.until(/unlucky[^]*next change starts it again/)
    const refused = await fetch(`http://127.0.0.1:${port}/`)
    expect([refused.status, refused.headers.get('content-type')]).to.deep.equal([
      503,
      'application/problem+json',
    ])
    // The message of any error may quote a password.
    expect(await refused.json()).to.include({
      code: 'service_unavailable',
      detail: 'The application could not start. The terminal shows the error.',
    })
    const unfinished = connect(port, '127.0.0.1')
    unfinished.write('GET / HTTP/1.1\r\nHost: ')
    await once(unfinished.resume(), 'close')
    project.write({ 'app.ts': FILES['app.ts'] })
    await until('/', ({ status }) => status === 200)
  })

  it('prints the place of a syntax error without the stack of the compiler', async () => {
    serving.output.clear()
    project.write({ 'app.ts': `${FILES['app.ts']}export const x = {\n` })
    await serving.output.until(/Transform failed[^]*next change starts it again/)
    expect(serving.output.text())
      .to.match(/app\.ts:\d+:\d+/)
      .and.not.match(/^ {4}at /m)
    project.write({ 'app.ts': FILES['app.ts'] })
    await until('/', ({ status }) => status === 200)
  })
})
