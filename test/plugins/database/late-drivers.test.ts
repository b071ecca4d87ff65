import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'chai'
import { bundleScript } from '../../support/bundle-script.ts'

/** A process of its own, because this one has loaded all of TypeORM. */
describe("TypeORM's drivers", () => {
  let result: {
    atFirst: string[]
    packagesAtFirst: string[]
    withPostgres: string[]
    isSameClass: boolean
    oracle: string
    packagesInUse: string[]
    sql: string
    highlighted: string
  }

  before(async () => {
    const script = await bundleScript(join(import.meta.dirname, 'fixtures/late-drivers.ts'))
    const { stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
    expect(stdout, stderr).to.match(/^\{/)
    result = JSON.parse(stdout) as typeof result
  })

  it('are not loaded with @mortar/database', () => {
    expect(result.atFirst).to.deep.equal([])
  })

  it('are loaded one by one, by the first DataSource of their kind', () => {
    expect(result.withPostgres).to.deep.equal(['PostgresDriver'])
  })

  it('are the same classes for those that import their modules', () => {
    expect(result.isSameClass).to.equal(true)
    expect(result.oracle).to.equal('OracleDriver')
  })

  it('come without the packages that format and log SQL and that find files, until they are used', () => {
    expect(result.packagesAtFirst).to.deep.equal([])
    expect(result.packagesInUse).to.deep.equal([
      '@sqltools/formatter',
      'sql-highlight',
      'debug',
      'tinyglobby',
    ])
    expect(result.sql).to.match(/select\s+1 as one/)
    expect(result.highlighted).to.contain('select')
  })
})
