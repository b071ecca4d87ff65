import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { createDataSource } from '@mortar/database'
import { bundleScript } from '../../support/bundle-script.ts'
import { SQLITE_DRIVERS } from './drivers.ts'
import { temporaryFolder } from './notes.ts'

const SCRIPT = join(import.meta.dirname, 'fixtures', 'write-until-killed.ts')
const ENOUGH = 40

for (const [name, driver] of Object.entries(SQLITE_DRIVERS))
  describe(`A process that is killed while it writes to SQLite by ${name}`, function () {
    const folder = temporaryFolder()

    it('leaves every transaction that it reported, whole, and no half of one', async () => {
      const database = join(folder(), 'app.db')
      const args = [await bundleScript(SCRIPT), database, name]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      const ended = once(child, 'close')
      const lines: string[] = []
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(line)
        if (lines.length === ENOUGH) child.kill('SIGKILL')
      }
      expect(await ended).to.deep.equal([null, 'SIGKILL'])
      const [settings, ...reported] = lines
      // The log is written ahead; 1 (NORMAL) and 2 (FULL) both keep it through the end of a process.
      expect(settings).to.match(/^wal [12]$/)

      const dataSource = await createDataSource({ type: 'better-sqlite3', database, driver }).initialize()
      const [row] = await dataSource.query('select count(*) as count, max(n) as last from written')
      expect(row.last).to.be.at.least(Number(reported.at(-1)))
      expect(row.count).to.equal(row.last)
      expect(row.count % 2).to.equal(0)
      expect(await dataSource.query('pragma integrity_check')).to.deep.equal([{ integrity_check: 'ok' }])
      await dataSource.destroy()
    })
  })
