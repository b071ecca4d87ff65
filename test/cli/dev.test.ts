import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { freePort } from '../support/free-port.ts'
import { createProject, type Serving, type TestProject } from './project.ts'

/** Milliseconds until a change must show. */
const DEADLINE = 30_000

const route = (text: string, app = '../app.ts'): string => `import { hits } from '${app}'
export default () => ({ text: ${JSON.stringify(text)}, hits: ++hits.count, pid: process.pid })
`

const FILES = {
  'app.ts': `import { createApp } from 'mortar'\nexport const app = createApp()\nexport const hits = { count: 0 }\n`,
  'routes/index.get.ts': route('one'),
  'routes/_words.ts': `export const word = 'first'\n`,
  'routes/word.get.ts': `import { word } from './_words.ts'\nexport default () => ({ text: word })\n`,
}

interface Answer {
  readonly status: number
  readonly broken: string | null
  readonly body: { readonly text?: string; readonly hits?: number; readonly pid?: number }
}

describe('mortar dev', function () {
  this.timeout(120_000)
  let project: TestProject
  let serving: Serving
  let port: number

  // One process for all tests, as a start takes seconds: each test leaves the files as they were.
  before(async () => {
    project = createProject(FILES)
    port = await freePort()
    serving = project.serve(['dev', '--port', String(port)])
    await serving.output.until(/ready in/)
  })

  after(async () => {
    expect(await serving.stop(), serving.output.text()).to.equal(0)
    project.remove()
  })

  async function get(path = '/'): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    const body = (await response.json()) as Answer['body']
    return { status: response.status, broken: response.headers.get('x-mortar-broken'), body }
  }

  async function until(path: string, wanted: (answer: Answer) => boolean): Promise<Answer> {
    const deadline = Date.now() + DEADLINE
    for (;;) {
      // No process listens during a restart.
      const answer = await get(path).catch(() => undefined)
      if (answer && wanted(answer)) return answer
      if (Date.now() > deadline) throw new Error(`The last response of ${path} was ${JSON.stringify(answer)}`)
      await pause(20)
    }
  }

  it('prints the addresses of the application and its pages', () => {
    expect(serving.output.text()).to.include(`App      http://127.0.0.1:${port}`).and.include('/docs')
  })

  it('replaces a changed route in the same process, which keeps its state', async () => {
    const first = await get()
    project.write({ 'routes/index.get.ts': route('two') })
    const second = await until('/', ({ body }) => body.text === 'two')
    expect(second.body.pid).to.equal(first.body.pid)
    expect(second.body.hits).to.be.greaterThan(first.body.hits!)
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

  it('keeps the old route while its file is broken, and shows the error in terminal and response', async () => {
    const { body } = await get()
    project.write({ 'routes/index.get.ts': 'export default () => ({' })
    await serving.output.until(/broken[^]*MORTAR_ROUTE_IMPORT/)
    const kept = await get()
    expect([kept.status, kept.body.text, kept.body.pid]).to.deep.equal([200, 'one', body.pid])
    expect(kept.broken).to.include('index.get.ts')
    project.write({ 'routes/index.get.ts': route('fixed') })
    const fixed = await until('/', ({ broken }) => broken === null)
    expect(fixed.body.text).to.equal('fixed')
    project.write({ 'routes/index.get.ts': FILES['routes/index.get.ts'] })
    await until('/', (answer) => answer.body.text === 'one')
  })

  it('keeps every route when a file breaks a convention', async () => {
    project.write({ 'routes/users.ts': route('x') })
    await serving.output.until(/MORTAR_ROUTE_METHOD_MISSING/)
    expect((await get()).body.text).to.equal('one')
    rmSync(join(project.directory, 'routes/users.ts'))
    await until('/', ({ broken }) => broken === null)
  })

  it('restarts after a change outside the routes or in a private module', async () => {
    const { body } = await get()
    project.write({ 'routes/_words.ts': `export const word = 'second'\n` })
    await until('/word', (answer) => answer.body.text === 'second')
    const again = await get()
    expect(again.body.pid).not.to.equal(body.pid)
    project.write({ 'app.ts': `${FILES['app.ts']}hits.count = 40\n` })
    expect((await until('/', (answer) => (answer.body.hits ?? 0) > 40)).body.pid).not.to.equal(again.body.pid)
  })

  it('waits for a change if the application cannot start', async () => {
    project.write({ 'app.ts': `${FILES['app.ts']}throw new Error('unlucky')\n` })
    await serving.output.until(/unlucky[^]*next change starts it again/)
    project.write({ 'app.ts': FILES['app.ts'] })
    await until('/', ({ status }) => status === 200)
  })
})
