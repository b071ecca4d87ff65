import { mkdtempSync, rmSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { createApp, type App, loadRoutes, registerModules } from 'mortar'
import { readManifestFiles } from '../../src/files/manifest.ts'
import { renderManifest } from '../../src/files/write-manifest.ts'
import { createRecordingSink } from '../files/recording-sink.ts'

describe('the manifest of a directory of routes', () => {
  let directory: string
  const apps: App[] = []
  beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'mortar-manifest-'))))
  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()))
    rmSync(directory, { recursive: true, force: true })
  })

  function write(path: string, content: string): void {
    mkdirSync(join(directory, path, '..'), { recursive: true })
    writeFileSync(join(directory, path), content)
  }

  /** The compiled form of a manifest, without an import of the package by name. */
  function writeCompiled(name: string, text: string): void {
    write('package.json', '{ "type": "module" }')
    write(
      `${name}/.framework/routes.js`,
      `const modules = { 'index.get.ts': { default: () => '${text}' } }
export { modules }
export const registerRoutes = (app) => app.addRoutes({
  routes: [{ method: 'GET', path: '/', definition: {}, handler: modules['index.get.ts'].default, middleware: [], origin: '${name}' }],
  scopes: [],
})
`,
    )
  }

  function createQuiet(): { app: App; warnings: string[] } {
    const warnings: string[] = []
    const log = {
      debug() {},
      info() {},
      error() {},
      warn: (...given: unknown[]) => void warnings.push(String(given.at(-1))),
      child: () => log,
    }
    const app = createApp({ environment: 'production', logger: log as never })
    apps.push(app)
    return { app, warnings }
  }

  it('has every file in code-unit order, by relative path, and quotes keys that need quotes', () => {
    const text = renderManifest('routes', ['a.get.ts', "it's/[id].get.ts"])
    expect(text).to.include(`import * as module1 from '../routes/it\\'s/[id].get.ts'`)
    expect(renderManifest('a\\b', ['a.get.ts'])).to.include(String.raw`from '../a\\b/a.get.ts'`)
    expect(text).to.include(`  'it\\'s/[id].get.ts': module1 satisfies CheckedModule<typeof module1>,`)
  })

  it('can be read without importing it', async () => {
    write('routes.ts', renderManifest('routes', ['a.get.ts', "it's/[id].get.ts"]))
    expect(await readManifestFiles(join(directory, 'routes.ts'))).to.deep.equal([
      'a.get.ts',
      "it's/[id].get.ts",
    ])
  })

  it('replaces the scan in production, where the directory may be missing', async () => {
    writeCompiled('one', 'first')
    const { app, warnings } = createQuiet()
    await loadRoutes(app, join(directory, 'one/routes'))
    expect((await app.inject('/')).body).to.equal('first')
    expect(warnings).to.deep.equal([])
  })

  it('belongs to its directory and application: two manifests in one process do not mix', async () => {
    writeCompiled('one', 'first')
    writeCompiled('two', 'second')
    const [first, second] = [createQuiet().app, createQuiet().app]
    await loadRoutes(first, join(directory, 'one/routes'))
    await loadRoutes(second, join(directory, 'two/routes'))
    expect((await first.inject('/')).body).to.equal('first')
    expect((await second.inject('/')).body).to.equal('second')
  })

  it('causes a warning and a scan of the directory if it is missing', async () => {
    write('package.json', '{ "type": "module" }')
    write('routes/index.get.js', `export default () => 'scanned'\n`)
    const { app, warnings } = createQuiet()
    await loadRoutes(app, join(directory, 'routes'))
    expect((await app.inject('/')).body).to.equal('scanned')
    expect(warnings[0]).to.include('MORTAR_MANIFEST_MISSING')
  })

  it('is rejected if the sources have other files', async () => {
    write('package.json', '{ "type": "module" }')
    write('routes/index.get.ts', 'export default () => 1\n')
    write('.framework/routes.ts', renderManifest('routes', ['gone.get.ts', 'index.get.ts']))
    const { app } = createQuiet()
    const refused = await loadRoutes(app, join(directory, 'routes')).catch((error: unknown) => error)
    expect(refused).to.include({ code: 'MORTAR_MANIFEST_STALE' })
    expect((refused as Error).message).to.include('gone.get')
  })

  it('belongs to one directory, written with or without a slash at its end', () => {
    for (const given of ['/srv/routes', '/srv/routes/', pathToFileURL('/srv/routes/')]) {
      const sink = createRecordingSink()
      registerModules(sink, given, { 'index.get.ts': { default: () => 1 } })
      expect(sink.batches[0]!.directory).to.equal('/srv/routes')
    }
  })

  it('applies the rules of route files to its modules', () => {
    const { app } = createQuiet()
    expect(() => registerModules(app, '/srv/routes', { 'users.ts': {} })).to.throw(
      'MORTAR_ROUTE_METHOD_MISSING',
    )
    expect(() => registerModules(app, '/srv/routes', { 'users.get.ts': {} })).to.throw(
      'MORTAR_ROUTE_NO_DEFAULT',
    )
  })
})
