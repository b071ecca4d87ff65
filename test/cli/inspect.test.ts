import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createProject, type TestProject } from './project.ts'

const APP = `import { createApp, defineBrick, env, singleton } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import { database } from '@mortar/database'
import * as schema from '@mortar/auth/basic/schema'

export const settings = env.all((read) => ({
  secret: read.secret('AUTH_SECRET'),
  file: read.string('DATA_FILE'),
  limit: read.integer('LIMIT', { min: 3 }),
  url: read.url('PEER', { protocols: ['https'] }),
}))
const loud = defineBrick({
  name: 'loud',
  services: { loud: singleton(() => { throw new Error('made') }) },
  start: () => { throw new Error('started') },
})
export const app = createApp({
  bricks: [
    database({ type: 'better-sqlite3', database: 'data.db', entities: schema }),
    auth(basicAuth({ secret: settings.secret }), { policies: { admin: () => true } }),
    loud,
  ],
  openapi: { title: 'Shop' },
})
`
const FILES = {
  'app.ts': APP,
  'routes/index.get.ts': 'export default () => 1\n',
  'routes/admin/_middleware.ts': 'export default (ctx, next) => next()\n',
  'routes/admin/old/_middleware.ts': 'export default (ctx, next) => next()\n',
  'routes/admin/old/index.get.ts': 'export default () => 1\n',
  'routes/admin/[id].put.ts': `import { object, string } from 'yup'
export const auth = 'admin'
export const params = object({ id: string().required() })
export const body = object({ name: string() })
export const response = { 200: object({ id: string() }) }
export default () => ({ id: '1' })
`,
}

describe('Commands that only inspect an application', function () {
  let project: TestProject
  before(() => void (project = createProject(FILES)))
  after(() => project.remove())

  it('list its routes in an empty environment: method, path, file, guard, schemas', () => {
    const ran = project.mortar(['routes', '--json'])
    expect([ran.code, ran.err]).to.deep.equal([0, ''])
    const routes = JSON.parse(ran.out) as { path: string; file: string }[]
    expect(routes.find(({ path }) => path === '/admin/:id')).to.deep.equal({
      method: 'PUT',
      path: '/admin/:id',
      file: 'routes/admin/[id].put.ts',
      guard: 'admin',
      schemas: ['params', 'body'],
      responses: [200],
      middleware: ['routes/admin/_middleware.ts'],
    })
    expect(routes.find(({ path }) => path === '/auth/login')).to.deep.include({
      file: "brick 'auth'",
      middleware: [],
    })
  })

  it('start nothing and make no service, so no database file is created', () => {
    const table = project.mortar(['routes'])
    expect(table.code, table.err).to.equal(0)
    expect(table.out).to.match(
      /PUT +\/admin\/:id .* routes\/admin\/\[id\]\.put\.ts, in routes\/admin\/_middleware\.ts$/m,
    )
    // The middleware next to the route comes first.
    expect(table.out).to.include('in routes/admin/old/_middleware.ts, routes/admin/_middleware.ts\n')
    expect(readdirSync(project.directory).filter((name) => name.startsWith('data.db'))).to.deep.equal([])
  })

  it('print the document that is served, and find drift', () => {
    const printed = project.mortar(['openapi'])
    const document = JSON.parse(printed.out) as { info: unknown; paths: object }
    expect(document.info).to.deep.include({ title: 'Shop' })
    expect(Object.keys(document.paths)).to.include.members(['/', '/admin/{id}', '/auth/signup'])
    const file = join(project.directory, 'openapi.json')
    writeFileSync(file, printed.out)
    expect(project.mortar(['openapi', '--check', 'openapi.json']).code).to.equal(0)
    writeFileSync(file, printed.out.replace('"Shop"', '"Shoe"'))
    const drifted = project.mortar(['openapi', '--check', 'openapi.json'])
    expect([drifted.code, drifted.out]).to.deep.equal([1, ''])
    expect(drifted.err).to.include('~ info.title')
    expect(project.mortar(['openapi', '--check', 'none.json']).err).to.include('MORTAR_CLI_FILE')
  })

  it('tell what the document has more, has no more, and has in another form than the file', () => {
    const document = JSON.parse(project.mortar(['openapi']).out)
    const { '/admin/{id}': added, ...known } = document.paths
    const committed = { ...document, paths: { ...known, '/gone': added }, tags: { 0: document.tags[0] } }
    writeFileSync(join(project.directory, 'openapi.json'), JSON.stringify(committed))
    const { code, err } = project.mortar(['openapi', '--check', 'openapi.json'])
    expect([code, err.split('\n').filter((line) => line.startsWith('  '))]).to.deep.equal([
      1,
      ['  + paths./admin/{id}', '  - paths./gone', '  ~ tags'],
    ])
  })

  it('report every error of the routes, with exit code 1', () => {
    const broken = createProject({
      'routes/users.ts': 'export default () => 1\n',
      'routes/x.get.ts': `export const auth = true\nexport default () => 1\n`,
      'routes/[..all].get.ts': 'export default () => 1\n',
    })
    const ran = broken.mortar(['routes'])
    broken.remove()
    expect([ran.code, ran.out]).to.deep.equal([1, ''])
    expect(ran.err).to.include('MORTAR_ROUTE_METHOD_MISSING').and.include('MORTAR_ROUTE_CATCH_ALL_MISTYPED')
  })

  it('do not let the application listen, because its secrets may be placeholders', () => {
    const eager = createProject({
      'app.ts': `import { createApp } from 'mortar'\nexport const app = createApp()\nawait app.listen(0)\n`,
    })
    const ran = eager.mortar(['routes'])
    eager.remove()
    expect(ran.code).to.equal(1)
    expect(ran.err).to.include('MORTAR_INSPECTING')
  })

  it('find the application by package.json, from a folder below too', () => {
    const nested = createProject({
      'package.json': JSON.stringify({
        type: 'module',
        mortar: { app: './source/main.ts', routes: './web' },
      }),
      'source/main.ts': `import { createApp } from 'mortar'\nexport const app = createApp()\n`,
      'web/hello.get.ts': 'export default () => 1\n',
    })
    const ran = nested.mortar(['routes'], { directory: join(nested.directory, 'source') })
    expect(ran.out).to.match(/GET +\/hello .*web\/hello\.get\.ts/)
    expect(existsSync(join(nested.directory, '.framework'))).to.equal(false)
    nested.remove()
  })
})

describe('Commands on an application without "type": "module"', () => {
  it('name it with the remedy', async () => {
    const project = createProject({ 'package.json': '{}', 'routes/index.get.ts': 'export default () => 1\n' })
    const words = 'Remedy: Add "type": "module" to it. [MORTAR_DOCTOR_MODULE]'
    for (const command of ['routes', 'openapi', 'build']) {
      const ran = project.mortar([command])
      expect([ran.code, ran.err.includes(words)], `${command}: ${ran.err}`).to.deep.equal([1, true])
    }
    const serving = project.serve(['dev', '--port', '0'])
    await serving.output.until(/The application ended/)
    await serving.stop()
    project.remove()
    expect(serving.output.text()).to.include(words)
  })
})
