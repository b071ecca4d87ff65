import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { StartupError } from '../../src/errors/startup-error.ts'
import { importFolder } from '../../src/files/import-folder.ts'

describe('importFolder', () => {
  it('ignores packages, and private, hidden and test files, at every depth', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mortar-folder-'))
    const files = ['a.mjs', 'b/a.mjs', 'b/a_b.mjs', '_a.mjs', '.a.mjs', 'a.test.mjs', 'a.d.ts', 'a.txt']
    const below = ['b/_a.mjs', 'b/_c/a.mjs', '_c/b/a.mjs', 'b/.c/a.mjs', 'b/a.test.mjs']
    const packages = ['node_modules/a/a.mjs', 'b/node_modules/a.mjs']
    for (const file of [...files, ...below, ...packages, 'node_modules.mjs']) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), 'export default 1\n')
    }
    const { found, problems } = await importFolder<string>(folder, {
      of: 'directory of jobs',
      fault: (_kind, text) => new StartupError(text, { code: 'TEST', remedy: '' }),
      read: (_value, { name }) => name,
    })
    rmSync(folder, { recursive: true })
    expect(found).to.deep.equal(['a', 'b/a', 'b/a_b', 'node_modules'])
    expect(problems).to.deep.equal([])
  })
})
