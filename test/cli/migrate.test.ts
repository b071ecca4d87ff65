import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
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

const nameOf = (file: string): string => `CreateNotes${file.slice(0, 13)}`

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

  it('says what to do about a migration that was run and whose file is gone', () => {
    const folder = join(project.directory, 'migrations')
    const [file = ''] = readdirSync(folder)
    renameSync(join(folder, file), join(project.directory, file))
    const { code, out, err } = run('status')
    renameSync(join(project.directory, file), join(folder, file))
    expect([code, out.split('\n')[0]]).to.deep.equal([3, `missing  ${nameOf(file)}`])
    expect(err).to.equal(
      'missing: it was applied, and its file is gone. Restore the file from version control: revert needs it.\n',
    )
    expect(run('status').err).to.equal('')
  })

  it('plans pending migrations as SQL with warnings, and runs none', () => {
    run('run')
    const nothing = run('plan')
    expect([nothing.code, nothing.out, nothing.err]).to.deep.equal([0, '', 'Nothing is pending.\n'])
    project.write({
      'migrations/9000000000000-drop-text.ts': `export class DropText9000000000000 {
  async up(runner: { query(sql: string, values?: unknown[]): Promise<unknown> }) {
    await runner.query('ALTER TABLE notes ADD COLUMN size int')
    await runner.query('UPDATE notes SET size = ?', ['hidden'])
    await runner.query('ALTER TABLE notes DROP COLUMN text')
  }
  async down() {}
}
`,
    })
    const planned = run('plan')
    expect(planned.out).to.equal(`-- DropText9000000000000 (migrations/9000000000000-drop-text.ts)
ALTER TABLE notes ADD COLUMN size int;
UPDATE notes SET size = ?; -- 1 parameter
-- WARNING drop-column: notes. Code that runs now reads the column, and fails. Its values are lost, also if the migration adds it again.
--   Instead: First deploy an entity without the column, which is nullable or has a default; drop it with the next deployment. To change a type, write the change by hand.
ALTER TABLE notes DROP COLUMN text;
`)
    expect([planned.code, planned.err]).to.deep.equal([4, '1 warning.\n'])
    const json = run('plan', '--json', '--large', '1')
    expect(json.code).to.equal(4)
    expect(JSON.parse(json.out)).to.have.nested.property('[0].statements[2].warnings[0].kind', 'drop-column')
    expect(json.out).not.to.include('hidden')
    expect(run('plan', '--large', 'many').code).to.equal(2)
    expect(run('status').out).to.match(/pending {2}DropText/)
    rmSync(join(project.directory, 'migrations/9000000000000-drop-text.ts'))
  })

  it('fails for a plan without warnings too if it cannot show every statement', () => {
    const file = 'migrations/9000000000001-by-driver.ts'
    project.write({
      [file]: `export class ByDriver9000000000001 {
  async up(runner: { query(sql: string): Promise<unknown>, connect(): Promise<unknown> }) {
    await runner.query('CREATE TABLE others (id int)')
    await runner.connect()
  }
  async down() {}
}
`,
    })
    const planned = run('plan')
    rmSync(join(project.directory, file))
    expect([planned.code, planned.err]).to.deep.equal([4, ''])
    expect(planned.out).to.include('CREATE TABLE others (id int);')
  })

  it('plans for a database file that does not exist, without making it', () => {
    const fresh = createProject({ 'app.ts': app('') })
    fresh.write({
      'migrations/1000000000000-first.ts': `export class First1000000000000 {
  async up(runner: { query(sql: string): Promise<unknown> }) {
    await runner.query('CREATE TABLE notes (id int)')
    await runner.query('ALTER TABLE notes ADD COLUMN text varchar NOT NULL')
  }
  async down() {}
}
`,
    })
    const planned = fresh.mortar(['migrate', 'plan'])
    const made = existsSync(join(fresh.directory, 'app.db'))
    fresh.remove()
    expect([planned.code, planned.err, made]).to.deep.equal([0, '', false])
    expect(planned.out.split('\n')).to.include('CREATE TABLE notes (id int);')
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
