import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { createDataSource } from '@mortar/database'
import { Notes, temporaryFolder, texts } from './notes.ts'

const ENOUGH = 40

describe('A backup of a SQLite file', () => {
  const folder = temporaryFolder()

  async function open(database: string): Promise<DataSource> {
    return createDataSource({ type: 'better-sqlite3', database, entities: [Notes] }).initialize()
  }

  it('by VACUUM INTO has all that was stored before, and whole transactions only', async () => {
    const source = await open(join(folder(), 'app.db'))
    await source.synchronize()
    const state = { stored: 0, runs: true }
    const writing = (async () => {
      for (let n = 1; state.runs; n += 2) {
        await source.transaction(async (manager) => {
          await manager.insert(Notes, { id: String(n), text: text(n) })
          await nextTurn()
          await manager.insert(Notes, { id: String(n + 1), text: text(n + 1) })
        })
        state.stored = n + 1
      }
    })()
    while (state.stored < ENOUGH) await nextTurn()
    const before = state.stored
    const backup = join(folder(), 'backup.db')
    await source.query('VACUUM INTO ?', [backup])
    const after = state.stored
    state.runs = false
    await writing
    await source.destroy()

    // The restore is a copy to the place of the file.
    const restored = join(folder(), 'restored.db')
    copyFileSync(backup, restored)
    const copy = await open(restored)
    expect(await copy.query('PRAGMA integrity_check')).to.eql([{ integrity_check: 'ok' }])
    const found = await texts(copy)
    expect(found.length).to.be.within(before, after + 2)
    expect(found.length % 2).to.equal(0)
    expect(found).to.eql(Array.from({ length: found.length }, (_, index) => text(index + 1)))
    await copy.query("INSERT INTO notes (id, text) VALUES ('new', 'new')")
    await copy.destroy()
  })

  const text = (number: number): string => `note ${String(number).padStart(6, '0')}`
})
