import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createApp, defineBrick, StartupErrors } from 'mortar'
import { loadPeer, type Peers } from 'mortar/kit'
import { importPeer } from '../../src/peers/load-peer.ts'
import { ROOT } from '../architecture/tree.ts'
import { startupErrorOf } from '../support/startup-error-of.ts'
import { packageFolder, type PackageFolder } from './package-folder.ts'

describe('Optional packages of bricks', () => {
  let folder: PackageFolder
  beforeEach(() => {
    folder = packageFolder({ cache: '^2.1.0', engine: '^0.4.0', driver: '>=3' })
  })
  afterEach(() => folder.remove())

  const appWith = (bricks: Readonly<Record<string, Peers>>) => {
    const app = createApp({ logger: false })
    for (const [name, peers] of Object.entries(bricks)) app.use(defineBrick({ name, peers }))
    return app
  }

  it('are named at start if missing, in one install command for all bricks', async () => {
    const app = appWith({ store: folder.peers(['cache', 'engine']), mailbox: folder.peers(['driver']) })
    const error = await startupErrorOf(() => app.ready())
    expect(error.code).to.equal('MORTAR_PEER_MISSING')
    expect(error.message).to.include(
      "Packages are not installed: the brick 'store' needs cache and engine; the brick 'mailbox' needs driver.",
    )
    expect(error.remedy).to.equal("Run npm install cache@^2.1.0 engine@^0.4.0 'driver@>=3'")
  })

  it('are looked up before any service of the bricks is made', async () => {
    let made = 0
    const app = appWith({ store: folder.peers(['cache']) }).provide({
      counted: { lifetime: 'singleton', factory: () => (made += 1) },
    })
    expect((await startupErrorOf(() => app.ready())).brick).to.equal('store')
    expect(made).to.equal(0)
  })

  it('do not prevent the start when they are installed', async () => {
    folder.install('cache', '2.4.0')
    const app = await appWith({ store: folder.peers(['cache']) }).ready()
    await app.close()
  })

  it('are named when their version is outside the range of the brick', async () => {
    folder.install('cache', '3.0.0')
    const error = await startupErrorOf(() => appWith({ store: folder.peers(['cache']) }).ready())
    expect(error.code).to.equal('MORTAR_PEER_VERSION')
    expect(error.message).to.include("cache 3.0.0 is installed, and the brick 'store' needs ^2.1.0.")
    expect(error.remedy).to.equal('Run npm install cache@^2.1.0')
  })

  it('are named when their native part cannot be loaded', async () => {
    folder.install('engine', '0.4.2', `throw new Error('No native build was found for platform=moon')`)
    const peers = folder.peers(['engine'], { native: ['engine'] })
    const error = await startupErrorOf(() => appWith({ store: peers }).ready())
    expect(error.code).to.equal('MORTAR_PEER_NATIVE')
    expect(error.message).to.include('No native build was found for platform=moon')
    expect(error.remedy).to.include('npm rebuild engine')
  })

  it('are reported together when several kinds of problem are found', async () => {
    folder.install('cache', '1.0.0')
    const error = await startupErrorOf(() => appWith({ store: folder.peers(['cache', 'engine']) }).ready())
    expect(error).to.be.instanceOf(StartupErrors)
    const codes = (error as StartupErrors).errors.map(({ code }) => code)
    expect(codes).to.deep.equal(['MORTAR_PEER_MISSING', 'MORTAR_PEER_VERSION'])
  })

  it('are suggested as development dependencies if only development needs them', async () => {
    const peers = folder.peers(['cache'], { development: true })
    const app = appWith({ page: peers, store: folder.peers(['engine']) })
    const { remedy } = await startupErrorOf(() => app.ready())
    expect(remedy).to.equal('Run npm install engine@^0.4.0 && npm install --save-dev cache@^2.1.0')
  })

  it('cause an error if the list of a brick cannot be checked', async () => {
    for (const peers of [{ packages: ['cache'] }, { from: 'here', packages: ['cache'] }, ['cache']]) {
      const app = appWith({ store: peers as never })
      expect((await startupErrorOf(() => app.ready())).code).to.equal('MORTAR_BRICK_SHAPE')
    }
  })
})

describe('loadPeer', () => {
  let folder: PackageFolder
  beforeEach(() => {
    folder = packageFolder({ cache: '^2.1.0' })
  })
  afterEach(() => folder.remove())

  interface Cache {
    readonly name: string
  }
  const load = (packages = ['cache']) =>
    loadPeer<Cache>('cache', { of: "the brick 'store'", peers: folder.peers(packages) })

  it('returns the package', () => {
    folder.install('cache', '2.1.0')
    expect(load().name).to.equal('cache')
  })

  it('names all missing packages', async () => {
    const error = await startupErrorOf(() => load(['cache', 'other']))
    expect(error.code).to.equal('MORTAR_PEER_MISSING')
    expect(error.remedy).to.equal('Run npm install cache@^2.1.0 other')
  })

  it('keeps the reason that an installed package cannot be loaded', async () => {
    folder.install('cache', '2.1.0', `throw new Error('invalid ELF header')`)
    const error = await startupErrorOf(() => load())
    expect([error.code, error.message.includes('invalid ELF header')]).to.deep.equal([
      'MORTAR_PEER_NATIVE',
      true,
    ])
  })
})

describe('importPeer', () => {
  it('names a package that cannot be found, and rethrows any other error', async () => {
    const folder = packageFolder({})
    const need = { of: 'a page', peers: folder.peers(['missing-package']) }
    try {
      const name: string = 'missing-package'
      const missing = importPeer(() => import(name), need)
      expect((await startupErrorOf(() => missing)).code).to.equal('MORTAR_PEER_MISSING')
      const reason = await importPeer(() => Promise.reject(new TypeError('boom')), need).catch(String)
      expect(reason).to.equal('TypeError: boom')
    } finally {
      folder.remove()
    }
  })
})

describe('The package of a brick', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'src/package.json'), 'utf8')) as { version: string }
  let folder: PackageFolder
  afterEach(() => folder.remove())

  const startOf = () =>
    createApp({ logger: false })
      .use(defineBrick({ name: 'store', peers: folder.peers([]) }))
      .ready()

  it('has to be made for this version of the framework', async () => {
    folder = packageFolder({ mortar: '9.8.7' }, 'acme-store')
    const error = await startupErrorOf(startOf)
    expect([error.code, error.brick]).to.deep.equal(['MORTAR_PEER_VERSION', 'store'])
    expect(error.message).to.include(
      `acme-store 1.0.0 (the brick 'store') is made for mortar 9.8.7, and this is mortar ${version}.`,
    )
    expect(error.remedy).to.equal(
      `Install a version of acme-store for mortar ${version}, or run npm install mortar@9.8.7`,
    )
  })

  it('is of the same release if it is one of the framework', async () => {
    folder = packageFolder({ mortar: '9.8.7' }, '@mortar/store')
    expect((await startupErrorOf(startOf)).remedy).to.equal(`Run npm install @mortar/store@${version}`)
  })

  it('has to import the copy of the framework that the application imports', async () => {
    folder = packageFolder({ mortar: `^${version}` }, 'acme-store')
    folder.install('mortar', version)
    const error = await startupErrorOf(startOf)
    expect(error.code).to.equal('MORTAR_PEER_VERSION')
    const other = new RegExp(
      `acme-store 1\\.0\\.0 .* imports mortar ${version} in .*node_modules/mortar, and`,
    )
    expect(error.message)
      .to.match(other)
      .and.to.include(`the application imports mortar ${version} in ${join(ROOT, 'src')}`)
    expect(error.remedy).to.include('npm dedupe')
  })

  it('may be the application itself', async () => {
    folder = packageFolder({})
    await (await startOf()).close()
  })
})
