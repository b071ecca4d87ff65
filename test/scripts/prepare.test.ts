import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { ROOT } from '../architecture/tree.ts'

const BUILD = `import { mkdirSync, writeFileSync } from 'node:fs'
mkdirSync('src/dist/cli', { recursive: true })
writeFileSync('src/dist/cli/main.js', '#!/usr/bin/env node\\n')
`

describe('npm install in a clone', () => {
  let clone: string
  beforeEach(() => {
    clone = mkdtempSync(join(tmpdir(), 'mortar-clone-'))
  })
  afterEach(() => rmSync(clone, { recursive: true }))

  it('leaves the command mortar, which the installation could not link before the build', () => {
    const manifests = {
      '.': {
        private: true,
        workspaces: ['src', 'typescript'],
        scripts: { prepare: 'node scripts/prepare.mjs', build: 'node build.mjs' },
      },
      src: { name: 'mortar', version: '0.1.0', bin: { mortar: 'dist/cli/main.js' } },
      typescript: { name: 'typescript', version: '7.0.0' },
    }
    for (const [folder, manifest] of Object.entries(manifests))
      write(join(folder, 'package.json'), JSON.stringify(manifest))
    write('build.mjs', BUILD)
    cpSync(join(ROOT, 'scripts/prepare.mjs'), join(clone, 'scripts/prepare.mjs'))
    execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund'], {
      cwd: clone,
      stdio: 'pipe',
      shell: process.platform === 'win32',
    })
    expect(existsSync(join(clone, 'node_modules/.bin/mortar'))).to.equal(true)
  })

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(clone, path)), { recursive: true })
    writeFileSync(join(clone, path), text)
  }
})
