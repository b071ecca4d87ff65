import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { loadRoutesLater } from '../../src/cli/dev/load-later.ts'
import { matchesFile } from '../../src/cli/dev/match-file.ts'
import { planRoutes } from '../../src/files/plan-routes.ts'
import { loadRoutes } from '../../src/files/load-routes.ts'
import { StartupError } from '../../src/errors/startup-error.ts'
import type { RouteBatch, RouteSink } from '../../src/routing/route-sink.ts'
import { startDev } from './dev-server.ts'

describe('mortar dev, while it imports the route files', () => {
  it('serves a route with its middleware before the other files; a path without a route waits for all', async () => {
    const app = `import { createApp, createRouter } from 'mortar'
export const app = createApp().use(createRouter().get('/code/:id', (ctx) => ctx.params.id))
export const gate = {} as { open: () => void; opened: Promise<void> }
gate.opened = new Promise((resolve) => (gate.open = resolve))
`
    const { project, serving, port } = await startDev(
      {
        'app.ts': app,
        'server.ts': `import { join } from 'node:path'
import { env, loadRoutes } from 'mortar'
import { app } from './app.ts'

await loadRoutes(app, join(import.meta.dirname, 'routes'))
const { url } = await app.listen(env.port('PORT'), '127.0.0.1')
process.stdout.write('listens at ' + url + '\\n')
`,
        'routes/_middleware.ts': `export default (ctx, next) => (ctx.set('x-wrapped', 'yes'), next())\n`,
        'routes/a/waits.get.ts': `import { gate } from '../../app.ts'
await gate.opened
export default () => 'waited'
`,
        'routes/[id].get.ts': `import { gate } from '../app.ts'
export default (ctx) => (gate.open(), { id: ctx.params.id })
`,
      },
      /listens at/,
    )
    try {
      const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
      const late = Promise.all(['/openapi.json', '/a/b/c'].map(get))
      // The gate that the other file waits for is still closed.
      expect(await (await get('/code/1')).text()).to.equal('1')
      const early = await get('/7')
      expect([await early.json(), early.headers.get('x-wrapped')]).to.deep.equal([{ id: '7' }, 'yes'])
      const [document, missing] = await late
      expect(((await document!.json()) as { paths: object }).paths).to.have.all.keys(
        '/code/{id}',
        '/{id}',
        '/a/waits',
      )
      expect(missing!.status).to.equal(404)
      expect(await (await get('/a/waits')).text()).to.equal('waited')
    } finally {
      expect(await serving.stop(), serving.output.text()).to.equal(0)
      project.remove()
    }
  })

  it('lets a request wait for the other routes of a directory that the application refuses', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mortar-later-'))
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(directory, 'a.get.js'), 'export default () => 1\n')
    // Its warning is the last step before all routes are added.
    writeFileSync(join(directory, 'b.get.js'), 'export default () => 2\nexport const post = 3\n')
    const later = loadRoutesLater()
    const served: (readonly string[])[] = []
    const asked = new EventEmitter()
    const request = once(asked, 'warning').then(([prepared]) => prepared as Promise<void>)
    const app = {
      environment: 'development',
      routes: [],
      batches: [],
      addRoutes: () => undefined,
      trackLoad: (work: Promise<void>) => work,
      warn: () => void asked.emit('warning', later.prepare('GET', '/a')),
      replaceRoutes({ routes }: RouteBatch) {
        const twice = routes.find(({ path }) => path === '/b')
        if (twice === undefined) return void served.push(routes.map(({ path }) => path))
        throw new StartupError('GET /b is declared twice.', { code: 'X', remedy: '', files: [twice.origin] })
      },
    }
    process.env['FRAMEWORK_MODE'] = 'dev'
    try {
      await loadRoutes(app as unknown as RouteSink, directory)
      const finished = later.finish()
      await request
      expect(served).to.deep.equal([['/a']])
      await finished
    } finally {
      Reflect.deleteProperty(process.env, 'FRAMEWORK_MODE')
      rmSync(directory, { recursive: true })
    }
  })

  it('finds the files that a request may need by method and path', () => {
    const { files } = planRoutes([
      '_middleware.ts',
      'index.get.ts',
      'users/[id].get.ts',
      'users/me.get.ts',
      'users/[id].put.ts',
      'files/[...path].get.ts',
    ])
    const found = (method: string, path: string): string[] =>
      files.filter((file) => matchesFile(file, method, path)).map(({ file }) => file)
    expect(found('GET', '/')).to.deep.equal(['index.get.ts'])
    expect(found('GET', '/?a=/users/1')).to.deep.equal(['index.get.ts'])
    expect(found('HEAD', '/users/me')).to.deep.equal(['users/[id].get.ts', 'users/me.get.ts'])
    expect(found('PUT', '/users/1/')).to.deep.equal(['users/[id].put.ts'])
    expect(found('GET', '/files/a/b')).to.deep.equal(['files/[...path].get.ts'])
    for (const path of ['/users', '/users/1/2', '/no']) expect(found('GET', path), path).to.deep.equal([])
  })
})
