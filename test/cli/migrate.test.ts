import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createProject, type TestProject } from './project.ts'

const app = (columns: string): string => `import { join } from 'node:path'
import { createApp } from 'mortar'
import { database } from '@mortar/database'
import { EntitySchema } from 'typeorm'

const Notes = new EntitySchema({
  name: 'notes',
  columns: { id: { type: String, primary: true }${columns} },
})
const migrations = join(import.meta.dirname, 'migrations')
export const app = createApp({
  bricks: [database({ type: 'better-sqlite3', database: join(import.meta.dirname, 'app.db'), entities: { Notes }, migrations })],
})
`

describe('mortar migrate', function () {
  let project: TestProject
  before(() => void (project = createProject({ 'app.ts': app('') })))
  after(() => project.remove())

  const run = (...args: string[]) => project.mortar(['migrate', ...args])

  it('prints the status without making the database file', () => {
    expect(run('status').err).to.include('MORTAR_MIGRATIONS_FOLDER')
    mkdirSync(join(project.directory, 'migrations'))
    const status = run('status')
    expect([status.code, status.err]).to.deep.equal([0, 'There are no migrations.\n'])
    expect(readdirSync(project.directory).filter((name) => /\.db$|^data$/.test(name))).to.deep.equal([])
  })

  it('writes, runs and reverts migrations', () => {
    expect(run('generate', 'create notes').out).to.match(/^wrote {4}migrations\/\d{13}-create-notes\.ts\n$/)
    const pending = run()
    expect(pending.out).to.match(/^pending {2}CreateNotes\d{13}\n$/)
    expect([pending.code, run('status', '--json').code]).to.deep.equal([3, 3])
    expect(run('run').out).to.match(/^applied {2}CreateNotes\d{13}\n$/)
    const applied = run('status', '--json')
    expect(JSON.parse(applied.out)).to.have.nested.property('[0].state', 'applied')
    expect(applied.code).to.equal(0)
    const again = run('run')
    expect([again.out, again.err]).to.deep.equal(['', 'Nothing is pending.\n'])
    expect(run('generate', 'nothing').err).to.include('already matches the schema')
    project.write({ 'app.ts': app(`, text: { type: 'text', default: '' }`) })
    expect(run('generate', 'add text').code).to.equal(0)
    expect(readdirSync(join(project.directory, 'migrations'))).to.have.length(2)
    expect(run('run').out).to.match(/AddText/)
    expect(run('revert').out).to.match(/^reverted AddText/)
  })

  it('drops every table and runs all migrations again', () => {
    const ran = run('fresh')
    expect(ran.out.match(/applied/g)).to.have.length(2)
    expect(ran.err).to.include('Dropping every table')
  })

  for (const step of ['revert', 'fresh'])
    it(`rejects ${step} in production without --force`, () => {
      const variables = { NODE_ENV: 'production' }
      const refused = project.mortar(['migrate', step], { variables })
      expect([refused.code, refused.out]).to.deep.equal([1, ''])
      expect(refused.err).to.include('MORTAR_CLI_PRODUCTION')
      expect(project.mortar(['migrate', step, '--force'], { variables }).code).to.equal(0)
    })

  it('reports an application without a database', () => {
    const bare = createProject({})
    const ran = bare.mortar(['migrate'])
    bare.remove()
    expect([ran.code, ran.err.includes('MORTAR_CLI_MIGRATIONS')]).to.deep.equal([1, true])
    expect(existsSync(join(bare.directory, 'app.db'))).to.equal(false)
  })
})
