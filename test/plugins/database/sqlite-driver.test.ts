import { createRequire } from 'node:module'
import { expect } from 'chai'
import { openDataSource } from '@mortar/database'
import { DataSource } from 'typeorm'
import { type Runtime, withSqliteDriver } from '../../../plugins/database/drivers/sqlite-driver.ts'
import { databaseNeed } from '../../../plugins/database/drivers/typeorm.ts'
import { startupErrorOf } from '../../support/startup-error-of.ts'

const require = createRequire(import.meta.url)
const BetterSqlite: unknown = require('better-sqlite3')
const Libsql: unknown = require('libsql')

const NODE_22: Runtime = { name: 'Node', version: '22.12.0' }
const BUN: Runtime = { name: 'Bun', version: '1.4.5' }
const DENO: Runtime = { name: 'Deno', version: '2.9.1' }

/** The installed drivers: the version of better-sqlite3, or the error of loading its binary, and libsql. */
interface Installed {
  readonly betterSqlite?: string
  readonly broken?: string
  readonly libsql?: boolean
}

function missing(name: string): never {
  throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' })
}

function surroundings(runtime: Runtime, { betterSqlite, broken, libsql = false }: Installed) {
  const warnings: string[] = []
  const load = (name: string): unknown => {
    if (name === 'libsql') return libsql ? Libsql : missing(name)
    if (betterSqlite === undefined) return missing(name)
    if (name === 'better-sqlite3/package.json') return { version: betterSqlite }
    if (broken !== undefined) throw new Error(broken)
    return BetterSqlite
  }
  return { runtime, load, warn: (message: string) => void warnings.push(message), warnings }
}

function choose(runtime: Runtime, installed: Installed) {
  const around = surroundings(runtime, installed)
  const { driver } = withSqliteDriver({ type: 'better-sqlite3', driver: undefined }, around)
  return { driver: driver === BetterSqlite ? 'better-sqlite3' : 'libsql', warnings: around.warnings }
}

const BROKEN = 'The module was compiled against a different Node.js version.\nMore about it'

describe('The choice of the SQLite driver', () => {
  for (const [name, runtime, installed, driver] of [
    ['better-sqlite3 12 on Node', NODE_22, { betterSqlite: '12.11.1', libsql: true }, 'better-sqlite3'],
    ['better-sqlite3 13 on Node', NODE_22, { betterSqlite: '13.2.0', libsql: true }, 'better-sqlite3'],
    ['better-sqlite3 13 on Bun', BUN, { betterSqlite: '13.2.0', libsql: true }, 'better-sqlite3'],
    ['libsql on Bun beside better-sqlite3 12', BUN, { betterSqlite: '12.11.1', libsql: true }, 'libsql'],
    ['libsql on Bun alone', BUN, { libsql: true }, 'libsql'],
    ['libsql on Node alone', NODE_22, { libsql: true }, 'libsql'],
  ] as const)
    it(`is ${name}, without a word`, () => {
      expect(choose(runtime, installed)).to.deep.equal({ driver, warnings: [] })
    })

  it('is libsql where the binary of better-sqlite3 does not load, with a warning that has the reason', () => {
    const { driver, warnings } = choose(NODE_22, { betterSqlite: '12.11.1', broken: BROKEN, libsql: true })
    expect(driver).to.equal('libsql')
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.include('libsql is used instead').and.to.include('different Node.js version')
  })

  it('does not load better-sqlite3 13 on Node 20, where its binary ends the process', () => {
    const { driver } = choose({ name: 'Node', version: '20.20.2' }, { betterSqlite: '13.2.0', libsql: true })
    expect(driver).to.equal('libsql')
  })

  for (const [version, expected] of [
    ['22.23.3', 0],
    ['24.18.1', 0],
    ['24.19.0', 1],
    ['26.10.0', 1],
  ] as const)
    it(`warns ${expected} times of aborts by better-sqlite3 12 on Node ${version}`, () => {
      const { warnings } = choose({ name: 'Node', version }, { betterSqlite: '12.11.1' })
      expect(warnings.filter((text) => text.includes('better-sqlite3@13'))).to.have.length(expected)
    })

  for (const runtime of [BUN, DENO])
    it(`fails with both names and both lines when nothing is installed on ${runtime.name}`, async () => {
      const error = await startupErrorOf(() => choose(runtime, {}))
      expect(error.code).to.equal('MORTAR_DATABASE_DRIVER')
      expect(error.message)
        .to.include(
          `on ${runtime.name} ${runtime.version}. better-sqlite3: not installed. libsql: not installed.`,
        )
        .and.to.include('npm install better-sqlite3@13')
        .and.to.include('npm install libsql')
        .and.to.include('docs/runtimes.md')
    })

  it('names a version that works where the installed one cannot', async () => {
    const error = await startupErrorOf(() => choose(BUN, { betterSqlite: '12.11.1' }))
    expect(error.message).to.include('npm install better-sqlite3@13')
  })

  it('fails with the reason and the repair when a binary is missing, and not with the path of the database', async () => {
    const error = await startupErrorOf(() => choose(NODE_22, { betterSqlite: '12.11.1', broken: BROKEN }))
    expect(error.code).to.equal('MORTAR_DATABASE_DRIVER')
    expect(error.message)
      .to.include('better-sqlite3: The module was compiled against a different Node.js version.')
      .and.to.include('npm rebuild better-sqlite3')
      .and.not.to.include('More about it')
  })

  it('leaves a driver of the caller, a binary of the caller and other databases as they are', () => {
    const around = surroundings(NODE_22, {})
    for (const options of [
      { type: 'better-sqlite3', driver: BetterSqlite },
      { type: 'better-sqlite3', nativeBinding: '/some/file.node' },
      { type: 'postgres' },
    ])
      expect(withSqliteDriver(options, around)).to.equal(options)
  })

  const wrong: Record<string, [driver: unknown, reason: RegExp]> = {
    'a class without its methods': [
      class Plain {
        readonly name = 'plain'
      },
      /pragma is not a function/,
    ],
    'a class with promises': [require('libsql/promise'), /all is not a function/],
    'a module': [{ default: BetterSqlite }, /a value of type object/],
    'the name of a package': ['libsql', /a value of type string/],
  }
  for (const [name, [driver, reason]] of Object.entries(wrong))
    it(`rejects ${name} as the option driver, and names the reason`, async () => {
      const options = { type: 'better-sqlite3', driver }
      const error = await startupErrorOf(() => withSqliteDriver(options, surroundings(NODE_22, {})))
      expect(error.code).to.equal('MORTAR_DATABASE_DRIVER')
      expect(error.message)
        .to.match(reason)
        .and.to.include('Give the class that better-sqlite3 or libsql exports')
    })

  it('is checked at the start only if better-sqlite3 alone is installed', () => {
    const packages = (...installed: string[]) =>
      databaseNeed('better-sqlite3', (name) => installed.includes(name)).peers.packages
    expect(packages()).to.deep.equal([])
    expect(packages('libsql')).to.deep.equal([])
    expect(packages('better-sqlite3', 'libsql')).to.deep.equal([])
    expect(packages('better-sqlite3')).to.deep.equal(['better-sqlite3'])
  })

  it('adapts a libsql of the caller', () => {
    const { driver } = withSqliteDriver({ type: 'better-sqlite3', driver: Libsql }, surroundings(NODE_22, {}))
    expect(driver).not.to.equal(Libsql)
    const db = new (
      driver as new (file: string) => { pragma(source: string, options: object): unknown; close(): void }
    )(':memory:')
    expect(db.pragma('user_version', { simple: true })).to.equal(0)
    db.close()
  })

  it('adapts a libsql in a DataSource of the caller', async () => {
    const source = new DataSource({ type: 'better-sqlite3', database: ':memory:', driver: Libsql })
    await openDataSource(source)
    const [row] = await source.query('select ? as sent', [Buffer.from('b')])
    expect(row).to.deep.equal({ sent: Buffer.from('b') })
    await source.destroy()
  })
})
