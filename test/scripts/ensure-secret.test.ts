import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { ensureSecret } from '../../scripts/ensure-secret.ts'

describe('ensureSecret', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mortar-secret-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  for (const before of [undefined, '', 'PORT=1', 'PORT=1\n'])
    it(`writes a secret that only the owner can read (before: ${JSON.stringify(before)})`, function () {
      if (process.platform === 'win32') this.skip()
      const file = join(folder, '.env')
      if (before !== undefined) {
        writeFileSync(file, before)
        chmodSync(file, 0o644)
      }
      expect(ensureSecret(folder, {})).to.equal(file)
      expect(statSync(file).mode & 0o777).to.equal(0o600)
      expect(readFileSync(file, 'utf8')).to.match(/(^|\n)AUTH_SECRET=[\w-]{43}\n$/)
      expect(ensureSecret(folder, {}), 'a second time').to.equal(undefined)
    })

  it('leaves an existing secret and its file alone, and writes none in production', () => {
    writeFileSync(join(folder, '.env'), 'AUTH_SECRET=x\n', { mode: 0o644 })
    expect(ensureSecret(folder, {})).to.equal(undefined)
    rmSync(join(folder, '.env'))
    for (const environment of [{ NODE_ENV: 'production' }, { AUTH_SECRET: 'x' }, { AUTH_SECRETS: 'x' }])
      expect(ensureSecret(folder, environment)).to.equal(undefined)
  })
})
