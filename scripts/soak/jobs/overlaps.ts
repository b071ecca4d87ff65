import { kindOf, tableStatements, type DatabaseKind, type DataSourceLike } from 'mortar/kit'
import { typeorm } from '@mortar/database'
import type { DataSource } from 'typeorm'

/** A job that a worker has claimed while the lease of another one had not ended, by the clock of the database. */
export const Overlaps = new typeorm.EntitySchema<{ id: number; job: string }>({
  name: 'ledger_overlaps',
  columns: {
    id: { type: Number, primary: true, generated: true },
    job: { type: String, length: 36 },
  },
})

const IS_OVERLAP = 'old.worker <> new.worker and old.run_at > {now}'
const TRIGGERS: Readonly<Record<DatabaseKind, readonly string[]>> = {
  postgres: [
    `create function {note}() returns trigger language plpgsql as $body$ begin
       insert into {overlaps} (job) values (old.id);
       return new;
     end $body$`,
    `create trigger ledger_overlap before update on {jobs} for each row when (${IS_OVERLAP}) execute function {note}()`,
  ],
  mysql: [
    `create trigger {note} before update on {jobs} for each row
     insert into {overlaps} (job) select old.id from dual where ${IS_OVERLAP}`,
  ],
  sqlite: [
    `create trigger ledger_overlap before update on {jobs} when ${IS_OVERLAP} begin
       insert into {overlaps} (job) values (old.id);
     end`,
  ],
}

/** Lets the database itself write each overlap down, so that no job is watched too late. */
export async function watchLeases(db: DataSource): Promise<void> {
  const own = db as unknown as DataSourceLike
  const kind = kindOf(own)!
  const tables = { jobs: 'mortar_jobs', overlaps: 'ledger_overlaps', note: 'ledger_note_overlap' }
  const { build } = tableStatements(own, { kind, tables, of: 'the ledger' })
  for (const statement of TRIGGERS[kind]) await db.query(build(statement))
}
