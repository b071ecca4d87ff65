import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { APP, route, startDev, type DevServer } from './dev-server.ts'

/** Causes of broken route files: description, source and code of the error. */
const BROKEN = [
  ['has a syntax error', 'export default () => ({', 'MORTAR_ROUTE_IMPORT'],
  ['is empty', '', 'MORTAR_ROUTE_NO_DEFAULT'],
  ['has no handler', 'export default 5\n', 'MORTAR_ROUTE_HANDLER'],
  ['has an invalid setting', `export const auth = true\n${route('x')}`, 'MORTAR_AUTH_MISSING'],
] as const

const ROUTES = {
  'routes/index.get.ts': route('one'),
  'routes/word.get.ts': route('first'),
}

describe('mortar dev, with a broken route file', function () {
  let server: DevServer
  let project: DevServer['project']
  let get: DevServer['get']
  let until: DevServer['until']

  before(async () => {
    server = await startDev({ 'app.ts': APP, ...ROUTES })
    ;({ project, get, until } = server)
  })

  afterEach(async () => {
    for (const name of readdirSync(join(project.directory, 'routes')))
      if (!Object.hasOwn(ROUTES, `routes/${name}`))
        rmSync(join(project.directory, 'routes', name), { recursive: true })
    // A file that is written starts the application again, also without a difference.
    for (const [path, source] of Object.entries(ROUTES))
      if (readFileSync(join(project.directory, path), 'utf8') !== source) project.write({ [path]: source })
    await until('/', ({ broken, body }) => broken === null && body.text === 'one')
    await until('/word', ({ body }) => body.text === 'first')
    server.serving.output.clear()
  })

  after(async () => {
    expect(await server.serving.stop(), server.serving.output.text()).to.equal(0)
    project.remove()
  })

  for (const [what, source, said] of BROKEN)
    it(`serves all others, and the error of one that ${what}, until it is repaired`, async () => {
      project.write({ 'routes/index.get.ts': source })
      await server.serving.output.until(
        new RegExp(`Ready in[^]*broken[^]*${said}[^]*The other routes are served`),
      )
      const answer = await until('/', ({ broken }) => broken !== null)
      expect(answer.status).to.equal(500)
      expect(answer.body.detail).to.include('index.get.ts').and.to.include(said)
      expect((await get('/word')).body.text).to.equal('first')
      project.write({ 'routes/index.get.ts': ROUTES['routes/index.get.ts'] })
      await until('/', ({ broken, body }) => broken === null && body.text === 'one')
    })

  it('follows a change of another file, and goes on to show the error', async () => {
    const guarded = `export const auth = true\n${route('x')}`
    project.write({
      'routes/index.get.ts': '',
      'routes/form.post.ts': '',
      'routes/guarded.post.ts': guarded,
    })
    await until('/', ({ broken }) => broken !== null)
    // The error is not hidden behind that of a body that the route would refuse without its settings.
    for (const path of ['form', 'guarded']) {
      const body = new FormData()
      body.set('title', 'Cat')
      const sent = await fetch(`http://127.0.0.1:${server.port}/${path}`, { method: 'POST', body })
      expect(await sent.text()).to.include(`${path}.post.ts`)
    }
    project.write({ 'routes/word.get.ts': route('second') })
    const second = await until('/word', ({ body, broken }) => body.text === 'second' && broken !== null)
    expect(second.broken).to.include('MORTAR_ROUTE_NO_DEFAULT')
    expect((await get()).status).to.equal(500)
  })

  it('follows a renamed folder, also if another one gets its old name', async () => {
    const move = (from: string, to: string): void =>
      renameSync(join(project.directory, 'routes', from), join(project.directory, 'routes', to))
    project.write({ 'routes/old/a.get.ts': route('a', '../../app.ts') })
    await until('/old/a', ({ status }) => status === 200)
    move('old', 'new')
    await until('/new/a', ({ status }) => status === 200)
    expect((await get('/old/a')).status).to.equal(404)
    project.write({ 'routes/new/a.get.ts': route('b', '../../app.ts') })
    await until('/new/a', ({ body }) => body.text === 'b')
    move('new', 'newer')
    project.write({ 'routes/new/a.get.ts': route('c', '../../app.ts') })
    await until('/new/a', ({ body }) => body.text === 'c')
    await until('/newer/a', ({ body }) => body.text === 'b')
    project.write({ 'routes/new/a.get.ts': route('d', '../../app.ts') })
    await until('/new/a', ({ body }) => body.text === 'd')
  })

  it('shows the last of several quick edits', async () => {
    for (let round = 0; round < 3; round++) {
      for (let edit = 0; edit < 4; edit++)
        project.write({ 'routes/index.get.ts': route(`edit ${round}.${edit}`) })
      await until('/', ({ body }) => body.text === `edit ${round}.3`)
    }
  })

  it('serves nothing below a broken middleware but its error', async () => {
    project.write({
      'routes/admin/index.get.ts': route('secret', '../../app.ts'),
      'routes/admin/_middleware.ts': 'export default (ctx, next) => {',
    })
    await until('/', ({ broken }) => broken !== null)
    const answer = await get('/admin')
    expect([answer.status, answer.body.text]).to.deep.equal([500, undefined])
    expect(answer.body.detail).to.include('_middleware.ts')
    project.write({ 'routes/admin/_middleware.ts': 'export default (ctx, next) => next()\n' })
    await until('/admin', ({ body }) => body.text === 'secret')
  })

  it('serves the others, and the error of a file in a folder with the name of the directory', async () => {
    project.write({
      'routes/routes/word.get.ts': '',
      'routes/routes/twice.get.ts': route('x', '../../app.ts'),
      'routes/routes/twice/index.get.ts': route('x', '../../../app.ts'),
    })
    await until('/routes/word', ({ body }) => body.detail?.includes('has no default export') === true)
    await until('/routes/twice', ({ body }) => body.detail?.includes('are both') === true)
    expect((await get('/word')).body.text).to.equal('first')
    expect((await get('/')).body.text).to.equal('one')
  })

  it('serves the others beside a wrong name, and the conflict of two files for one path', async () => {
    project.write({
      'routes/users.ts': route('x'),
      'routes/word.get.js': 'export default () => 1\n',
      'routes/twice.get.ts': route('x'),
      'routes/twice/index.get.ts': route('x', '../../app.ts'),
      'routes/items/[id].get.ts': route('x', '../../app.ts'),
      'routes/items/[key].patch.ts': route('x', '../../app.ts'),
    })
    await until('/items/1', ({ body }) => body.detail?.includes('two names for one position') === true)
    await until('/twice', ({ body }) =>
      /twice\.get\.ts and \S+twice\/index\.get\.ts are both/.test(body.detail ?? ''),
    )
    await server.serving.output.until(/word\.get\.js and \S+word\.get\.ts are one module/)
    expect((await get('/users')).status).to.equal(404)
    expect((await get('/word')).body.detail).to.include('are one module')
    expect((await until('/', ({ broken }) => broken !== null)).broken).to.include('users.ts has no method')
    rmSync(join(project.directory, 'routes/users.ts'))
    for (const folder of ['twice', 'items'])
      rmSync(join(project.directory, 'routes', folder), { recursive: true })
    const twice = await until('/twice', ({ broken, body }) => broken !== null && body.text === 'x')
    expect(twice.broken).to.include('are one module').and.not.include('users.ts')
    rmSync(join(project.directory, 'routes/word.get.js'))
    await until('/twice', ({ broken, body }) => broken === null && body.text === 'x')
    await until('/word', ({ body }) => body.text === 'first')
  })
})

describe('mortar dev, with two directories of routes of one name', () => {
  it('names the files of an endpoint that both have as those of the application, and serves the others', async () => {
    const server = await startDev({
      'app.ts': APP,
      'server.ts': `import { join } from 'node:path'
import { env, loadRoutes } from 'mortar'
import { app } from './app.ts'

for (const part of ['shop', 'admin']) await loadRoutes(app, join(import.meta.dirname, part, 'routes'))
await app.listen(env.port('PORT'), '127.0.0.1')
`,
      'shop/routes/notes.get.ts': route('shop', '../../app.ts'),
      'admin/routes/notes.get.ts': route('admin', '../../app.ts'),
      'admin/routes/users.get.ts': route('users', '../../app.ts'),
    })
    try {
      expect((await server.get('/users')).body.text).to.equal('users')
      const { broken } = await server.until('/notes', (answer) => answer.broken !== null)
      expect(broken)
        .to.include('in shop/routes/notes.get.ts and in admin/routes/notes.get.ts')
        .and.not.include('It was added twice')
    } finally {
      await server.serving.stop()
      server.project.remove()
    }
  })
})
