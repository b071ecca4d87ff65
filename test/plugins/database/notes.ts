import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DataSource, EntitySchema } from 'typeorm'

/** A row of the table that most of these tests write to. */
export interface Note {
  id: string
  text: string
}

/** A table with a unique column, so that a save of several rows can fail in its middle. */
export const Notes = new EntitySchema<Note>({
  name: 'notes',
  columns: { id: { type: String, primary: true }, text: { type: String, unique: true } },
})

/** Plain TypeORM, without the brick: a SQLite database with the table `notes`. */
export async function openPlain(database = ':memory:', driver?: object): Promise<DataSource> {
  return new DataSource({
    type: 'better-sqlite3',
    database,
    driver,
    entities: [Notes],
    synchronize: true,
  }).initialize()
}

/** Texts of all notes, in order. */
export async function texts(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.getRepository(Notes).find({ order: { text: 'ASC' } })
  return rows.map(({ text }) => text)
}

export const insert = (source: Pick<DataSource['manager'], 'insert'>, text: string): Promise<unknown> =>
  source.insert(Notes, { id: `id-${text}`, text })

/** A folder of its own for the suite that calls this in its `describe`; removed after it. */
export function temporaryFolder(): () => string {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'mortar-database-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))
  return () => folder
}
