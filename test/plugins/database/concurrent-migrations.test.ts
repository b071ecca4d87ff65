import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { bundleScript } from '../../support/bundle-script.ts'
import { temporaryFolder } from './notes.ts'

const SCRIPT = join(import.meta.dirname, 'fixtures', 'migrate-once.ts')

describe('processes that start together on one new SQLite file', function () {
  const folder = temporaryFolder()

  it('run each migration once, and all of them succeed', async () => {
    const database = join(folder(), 'new', 'app.db')
    const runs = await Promise.all([1, 2, 3].map(() => startMigration(database)))
    const ran = await Promise.all(runs.map((begin) => begin()))
    expect(ran.flat().toSorted()).to.eql(['Step1000000000001', 'Step1000000000002', 'Step1000000000003'])
  })
})

/** Starts a process; resolves once it has loaded, to a function that lets it begin and gives the names it ran. */
async function startMigration(database: string): Promise<() => Promise<string[]>> {
  const child = spawn(process.execPath, [await bundleScript(SCRIPT), database], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ended = once(child, 'close')
  expect((await lines.next()).value).to.equal('ready')
  return async () => {
    child.stdin.end()
    const { value = '[]' } = await lines.next()
    expect(await ended).to.eql([0, null])
    return JSON.parse(value) as string[]
  }
}
