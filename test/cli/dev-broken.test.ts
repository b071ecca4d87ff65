import { readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { APP, route, startDev, type DevServer } from './dev-server.ts'

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
    project.write(ROUTES)
    await until('/', ({ broken, body }) => broken === null && body.text === 'one')
    await until('/word', ({ body }) => body.text === 'first')
    server.serving.output.clear()
  })

  after(async () => {
    expect(await server.serving.stop(), server.serving.output.text()).to.equal(0)
    project.remove()
  })

  for (const [what, source, said] of [
    ['has a syntax error', 'export default () => ({', 'MORTAR_ROUTE_IMPORT'],
    ['is empty', '', 'MORTAR_ROUTE_NO_DEFAULT'],
    ['has no handler', 'export default 5\n', 'MORTAR_ROUTE_HANDLER'],
    ['has an invalid setting', `export const auth = true\n${route('x')}`, 'MORTAR_AUTH_MISSING'],
  ] as const)
    it(`serves new and changed files beside a file that ${what}, and names that file`, async () => {
      project.write({
        'routes/index.get.ts': source,
        'routes/broken.get.ts': source,
        'routes/word.get.ts': `export default () => ({ text: 'beside' })\n`,
        'routes/added.get.ts': route('added'),
      })
      const added = await until('/added', ({ status }) => status === 200)
      expect(added.broken).to.include('index.get.ts').and.to.include('broken.get.ts')
      expect((await get('/word')).body.text).to.equal('beside')
      expect([(await get()).body.text, (await get('/broken')).status]).to.deep.equal(['one', 404])
      await server.serving.output.until(new RegExp(`broken[^]*${said}`))
      project.write({ 'routes/index.get.ts': route('repaired'), 'routes/broken.get.ts': route('repaired') })
      for (const path of ['/', '/broken']) await until(path, ({ body }) => body.text === 'repaired')
    })

  it('serves new files beside a wrong name, and beside a second file of a path, whose first file stays', async () => {
    project.write({
      'routes/users.ts': route('x'),
      'routes/index.get.js': 'export default () => 1\n',
      'routes/word/index.get.ts': route('x', '../../app.ts'),
      'routes/added.get.ts': route('added'),
    })
    await until('/added', ({ status }) => status === 200)
    expect([(await get()).body.text, (await get('/word')).body.text]).to.deep.equal(['one', 'first'])
    await server.serving.output.until(
      /index\.get\.js and \S+index\.get\.ts are one module[^]*users\.ts has no method[^]*word\/index\.get\.ts are both/,
    )
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
    for (let round = 0; round < 5; round++) {
      for (let edit = 0; edit < 4; edit++)
        project.write({ 'routes/index.get.ts': route(`edit ${round}.${edit}`) })
      await until('/', ({ body }) => body.text === `edit ${round}.3`)
    }
  })
})
