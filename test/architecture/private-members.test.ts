import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { expect } from 'chai'

const ROOT = join(import.meta.dirname, '../..')

/**
 * The members of other packages that their types do not declare, or declare as private. Only files of a folder `compat`
 * read them, and a test renames each of them in a copy of its package.
 */
const PRIVATE: Readonly<Record<string, readonly string[]>> = {
  Node: ['_dumped', '_dump', '_httpMessage', '_handle', 'setBlocking'],
  cluster: ['internalMessage', 'newconn'],
  Koa: ['_body', '_explicitStatus', '_explicitNullBody'],
  yup: [
    '_whitelist',
    '_blacklist',
    '_typeCheck',
    '_validate',
    'internalTests',
    'runTests',
    'asNestedTest',
    '_resolve',
    '__validating',
  ],
  MongoDB: ['topology'],
  TypeORM: ['stmtCache', 'databaseConnection', 'releasePostgresConnection', 'createConnectionOptions'],
  pg: ['getStartupConf', 'processID'],
  mysql2: ['_allConnections', '_freeConnections', '_connectionQueue'],
  ioredis: ['socketTimeoutTimer', 'setSocketTimeout'],
}

/** Names of the same form that are documented: MongoDB's key and marks, a route of @koa/router, an unused parameter. */
const DOCUMENTED = new Set([
  '_id',
  '_bsontype',
  '_matchedRoute',
  '_matchedRouteName',
  '_transform',
  '_destroy',
])

/** The reader's own driver, whose type declares the member. */
const OWN_DRIVERS = ['plugins/auth/document/connection.ts', 'plugins/auth-document/connection.ts']

interface Source {
  readonly file: string
  readonly code: string
}

function sourcesBelow(folder: string): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules') && !/(^|\/)dist\//.test(name))
    .map((name) => {
      const path = join(ROOT, folder, name)
      const text = readFileSync(path, 'utf8')
      const code = text
        .replaceAll(/\/\*[\s\S]*?\*\//g, '')
        .replaceAll(/^\s*\/\/.*$|(?<=\()_\w+(?=[,)])/gm, '')
      return { file: relative(ROOT, path).replaceAll(sep, '/'), code }
    })
}

const isCompat = ({ file }: Source): boolean => file.includes('/compat/')
const uses = ({ code }: Source, name: string): boolean =>
  new RegExp(`(?<![\\w$])${name}(?![\\w$])`).test(code)

/** Members with a leading underscore that a file reads, destructures or declares. */
function underscored({ code }: Source): string[] {
  const found = code.matchAll(/(?:\.|\{\s+|^\s+(?:readonly\s+)?)(_[a-zA-Z]\w*)/gm)
  return [...new Set([...found].map(([, name]) => name!))].filter((name) => !DOCUMENTED.has(name))
}

describe('Private members of other packages', () => {
  const sources = [...sourcesBelow('src'), ...sourcesBelow('plugins')]
  const names = Object.values(PRIVATE).flat()

  it('are read in folders named compat only', () => {
    const outside = sources
      .filter((source) => !isCompat(source) && !OWN_DRIVERS.includes(source.file))
      .flatMap((source) =>
        names.filter((name) => uses(source, name)).map((name) => `${source.file}: ${name}`),
      )
    expect(outside).to.deep.equal([])
  })

  it('are all in the list', () => {
    const read = sources.filter(isCompat).flatMap(underscored)
    expect([...new Set(read)].filter((name) => !names.includes(name))).to.deep.equal([])
    const unused = names.filter((name) => !sources.some((source) => isCompat(source) && uses(source, name)))
    expect(unused).to.deep.equal([])
  })

  it('have a test that knows each of them', () => {
    const tests = sourcesBelow('test').filter(({ file }) => /compat|drifted/.test(file))
    expect(names.filter((name) => !tests.some((test) => uses(test, name)))).to.deep.equal([])
  })
})
