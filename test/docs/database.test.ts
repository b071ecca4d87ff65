import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { createDataSource, type Query } from '@mortar/database'
import type { DataSource, EntitySchema } from 'typeorm'
import { ROOT } from '../architecture/tree.ts'
import { readBlocks } from './read-blocks.ts'

type Page = { readonly owner: string; readonly limit: number; readonly offset: number }

interface Tasks {
  readonly Tasks: EntitySchema
  readonly listTasks: Query<object, Pick<Page, 'owner'>, Omit<Page, 'owner'>>
}

interface StatementLog {
  logStatements(db: DataSource, write: (sql: string, milliseconds: number) => void): void
}

const PAGE: Page = { owner: 'a', limit: 20, offset: 0 }

/** An index has a name that TypeORM makes of its columns. */
const withoutNames = (line: string): string => line.replace(/INDEX IDX_\w+/, 'INDEX')

describe('the example of docs/database.md', () => {
  const blocks = readBlocks('docs/database.md')
  const plans = blocks.filter(({ language }) => language === 'text').map(({ code }) => code.trim())
  let tasks: Tasks
  let log: StatementLog
  let db: DataSource

  before(async () => {
    mkdirSync(join(ROOT, 'data'), { recursive: true })
    const folder = mkdtempSync(join(ROOT, 'data/database-'))
    const load = async (name: string): Promise<unknown> => {
      const { code } = blocks.find((block) => block.code.startsWith(`// ${name}`))!
      writeFileSync(join(folder, name), code)
      return import(pathToFileURL(join(folder, name)).href)
    }
    try {
      tasks = (await load('tasks.ts')) as Tasks
      log = (await load('statement-log.ts')) as StatementLog
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    const options = { type: 'better-sqlite3', database: ':memory:', entities: [tasks.Tasks] } as const
    db = await createDataSource({ ...options, synchronize: true }).initialize()
  })
  after(() => db.destroy())

  it('has the query plan that the page shows, with the index and without', async () => {
    const [without, withIndex] = plans
    expect((await tasks.listTasks.explain(db, PAGE)).map(withoutNames).join('\n')).to.equal(withIndex)
    const { indices } = db.getMetadata(tasks.Tasks)
    await db.query(`drop index ${indices[0]!.name}`)
    expect((await tasks.listTasks.explain(db, PAGE)).join('\n')).to.equal(without)
  })

  it('logs each statement of a page with its time and without its parameters', async () => {
    const lines: [sql: string, milliseconds: number][] = []
    log.logStatements(db, (...line) => lines.push(line))
    await tasks.listTasks.page(db, { ...PAGE, owner: 'somebody', offset: 1 })
    const statements = lines.map(([sql]) => sql)
    expect(statements).to.have.length(2)
    expect(statements.join('\n'))
      .to.match(/^SELECT "id".+\nSELECT COUNT\(\*\)/)
      .and.not.include('somebody')
    for (const [, milliseconds] of lines) expect(milliseconds).to.be.within(0, 10_000)
  })
})
