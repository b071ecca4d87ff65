import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { StartupError } from '../../src/errors/startup-error.ts'
import { loadRoutes } from '../../src/files/load-routes.ts'
import { failureOf } from './failure-of.ts'
import { createRecordingSink } from './recording-sink.ts'
import { withTree } from './fixture-trees.ts'

const GOOD = join(import.meta.dirname, '../fixtures/routes/good')

describe('loadRoutes', () => {
  it('adds the same routes in the same order, whatever order the disk lists files in', async () => {
    const expected = await routesOf(join(GOOD, 'conventions'))
    for (const seed of [1, 2, 3, 4, 5]) {
      const readFolder = async (path: string) => shuffled(await readdir(path, { withFileTypes: true }), seed)
      const sink = createRecordingSink()
      await loadRoutes(sink, join(GOOD, 'conventions'), { readFolder })
      expect(sink.batches[0]!.routes.map(({ origin }) => origin)).to.deep.equal(expected)
    }
  })

  it('imports one module after the other, in the order of the routes', async () => {
    const events: string[] = []
    await loadRoutes(createRecordingSink(), join(GOOD, 'conventions'), {
      async importModule(url) {
        const name = decodeURIComponent(basename(url))
        events.push(`+${name}`)
        await Promise.resolve()
        events.push(`-${name}`)
        return { default: () => 'ok' }
      },
    })
    expect(events.slice(0, 4)).to.deep.equal([
      '+[...path].get.ts',
      '-[...path].get.ts',
      '+index.get.ts',
      '-index.get.ts',
    ])
  })

  it('passes the importer a file URL that keeps every character of the name', async () => {
    const urls: string[] = []
    const importModule = async (url: string) => {
      urls.push(url)
      return { default: () => 'ok' }
    }
    await loadRoutes(createRecordingSink(), join(GOOD, 'static-names'), { importModule })
    expect(urls).to.include(pathToFileURL(join(GOOD, 'static-names', 'café.get.ts')).href)
  })

  it('registers handler, definition and the file as origin', async () => {
    const handler = () => 'ok'
    const sink = createRecordingSink()
    await loadRoutes(sink, join(GOOD, 'middleware'), {
      importModule: async (url) =>
        url.includes('_middleware') ? { default: handler } : { default: handler, auth: 'admin', other: 1 },
    })
    const { routes, scopes } = sink.batches[0]!
    expect(routes[1]).to.deep.equal({
      method: 'GET',
      path: '/users/:id/posts',
      definition: { auth: 'admin' },
      handler,
      middleware: [],
      origin: 'test/fixtures/routes/good/middleware/users/[id]/posts.get.ts',
    })
    expect(scopes[1]).to.deep.equal({
      prefix: '/admin',
      middleware: { run: handler, origin: 'test/fixtures/routes/good/middleware/admin/_middleware.ts' },
    })
  })

  it('reads the exports of compiled CommonJS, so that its guard is not lost', async () => {
    const sink = createRecordingSink()
    await loadRoutes(sink, join(GOOD, 'commonjs-interop'), {
      importModule: async () => ({ default: { __esModule: true, auth: 'admin', default: () => 'ok' } }),
    })
    expect(sink.batches[0]!.routes[0]!.definition).to.deep.equal({ auth: 'admin' })
  })

  it('registers itself immediately, and rejects ready() if loading fails', async () => {
    const sink = createRecordingSink()
    const directory = join(GOOD, 'nowhere')
    const work = loadRoutes(sink, directory)
    expect(sink.loads.map((load) => load.directory)).to.deep.equal([directory])
    expect(await failureOf(work)).to.equal(await failureOf(sink.loads[0]!.work))
  })

  it('accepts a file URL', async () => {
    const sink = createRecordingSink()
    await loadRoutes(sink, new URL('../fixtures/routes/good/conventions/', import.meta.url))
    expect(sink.batches[0]!.routes).to.have.length(7)
  })

  it('rethrows the error of the application', async () => {
    const refusal = new StartupError('GET /users is declared twice', {
      code: 'MORTAR_ROUTE_DUPLICATE',
      remedy: '',
    })
    const sink = {
      ...createRecordingSink(),
      addRoutes() {
        throw refusal
      },
    }
    expect(await failureOf(loadRoutes(sink, join(GOOD, 'conventions')))).to.equal(refusal)
  })

  const refusals: readonly [what: string, directory: string | URL, code: string, says: string][] = [
    ['a relative directory', 'routes', 'RELATIVE', 'would resolve against the working directory'],
    ['a relative directory with dots', './routes', 'RELATIVE', 'import.meta.dirname'],
    ['no directory', undefined as unknown as string, 'RELATIVE', 'no directory'],
    [
      'a URL of another scheme',
      new URL('https://example.com/routes'),
      'RELATIVE',
      'https://example.com/routes',
    ],
    ['a directory that does not exist', join(GOOD, 'nowhere'), 'MISSING', join(GOOD, 'nowhere')],
    ['a file', import.meta.filename, 'UNREADABLE', 'a directory, not a file'],
  ]
  for (const [what, directory, code, says] of refusals)
    it(`refuses ${what}`, async () => {
      const error = await failureOf(loadRoutes(createRecordingSink(), directory))
      expect(error).to.be.instanceOf(StartupError)
      expect((error as StartupError).code).to.equal(`MORTAR_ROUTE_DIRECTORY_${code}`)
      expect((error as StartupError).message).to.include(says)
    })

  for (const app of [undefined, {}])
    it(`refuses ${app ? 'an object' : 'undefined'} in place of the application`, async () => {
      const error = await failureOf((async () => loadRoutes(app as never, GOOD))())
      const found = `loadRoutes() was given ${app ? 'an object' : 'undefined'}, which is not an application.`
      expect(error).to.include({ code: 'MORTAR_CLI_APP', found })
    })

  it('keeps the cause of a module that throws', async () => {
    const cause = new Error('no connection')
    const work = loadRoutes(createRecordingSink(), join(GOOD, 'commonjs-interop'), {
      importModule: () => Promise.reject(cause),
    })
    expect(await failureOf(work)).to.have.nested.property('errors[0].cause', cause)
  })

  it('reports once, not for each file, that no loader reads the files', async () => {
    const work = loadRoutes(createRecordingSink(), join(GOOD, 'conventions'), {
      importModule: async (url) => {
        throw Object.assign(new TypeError(`Unknown file extension ".ts" for ${url}`), {
          code: 'ERR_UNKNOWN_FILE_EXTENSION',
        })
      },
    })
    const error = (await failureOf(work)) as StartupError & { readonly errors: readonly StartupError[] }
    expect(error.errors).to.have.length(1)
    expect(error.errors[0]!.files).to.have.length(7)
    expect(error.message).to.include('--import tsx')
  })

  it('follows links between folders without a loop', () =>
    withTree(
      ['a/x.get.ts', 'b/y.get.ts', { link: 'a/b', to: '../b' }, { link: 'b/a', to: '../a' }],
      async (directory) => {
        const origins = await routesOf(directory)
        expect(origins.map((origin) => origin.slice(basename(directory).length + 1))).to.deep.equal([
          'a/b/y.get.ts',
          'a/x.get.ts',
          'b/a/x.get.ts',
          'b/y.get.ts',
        ])
      },
    ))
})

async function routesOf(directory: string): Promise<string[]> {
  const sink = createRecordingSink()
  await loadRoutes(sink, directory)
  return sink.batches[0]!.routes.map(({ origin }) => origin)
}

/** A shuffle that a seed repeats. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed
  const keyed = items.map((item) => {
    state = (state * 48271) % 2147483647
    return { item, key: state }
  })
  return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item)
}
