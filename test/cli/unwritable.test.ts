import { spawnSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createProject, type TestProject } from './project.ts'

/** Makes the working directory read-only, for a command that sees it in this way alone. */
const READ_ONLY = 'mount --bind . . && mount -o remount,ro,bind . && cd "$PWD" && exec "$@"'

/**
 * Runs a command in a copy of the working directory on a full disk, which only this command sees, and prints the files
 * that it has changed.
 */
const FULL = `mkdir full && mount -t tmpfs -o size=256k none full && cp -R app.ts package.json config routes migrations full
ln -s "$PWD/node_modules" full/node_modules && cd full
sums() { find . -type f ! -name "*.txt" ! -name fill ! -path "./.framework/*" | sort | xargs md5sum; }
sums > sums.txt; dd if=/dev/zero of=fill bs=1k 2> fill.txt
"$@"; code=$?
rm fill; sums | diff sums.txt - ; exit $code`

const COMMANDS: readonly (readonly string[])[] = [
  ['build'],
  ['generate', 'route', 'GET', '/prices'],
  ['migrate', 'generate', 'add-prices'],
  ['add', 'limits'],
  ['maintenance', 'on'],
  ['new', 'shop'],
]

describe('Commands that write', () => {
  let project: TestProject
  before(() => {
    project = createProject({
      'routes/index.get.ts': 'export default () => 1\n',
      'routes/.gitkeep': '',
      // One line more needs another page of a disk in memory.
      'config/bricks.ts': `export const bricks = [] as const\n//${'x'.repeat(4050)}\n`,
      'migrations/.gitkeep': '',
      'app.ts': `import { createApp } from 'mortar'
import { database } from '@mortar/database'
import { EntitySchema } from 'typeorm'
const prices = new EntitySchema({ name: 'prices', columns: { id: { type: Number, primary: true } } })
export const app = createApp().use(
  database({ type: 'better-sqlite3', database: ':memory:', entities: [prices], migrations: import.meta.dirname + '/migrations' }),
)
`,
      'bin/npm': '#!/bin/sh\nexit 0\n',
    })
    chmodSync(join(project.directory, 'bin/npm'), 0o755)
  })
  after(() => project.remove())

  for (const args of COMMANDS)
    it(`name the place and the remedy in a read-only folder, without a stack: mortar ${args.join(' ')}`, function () {
      if (spawnSync('unshare', ['--mount', 'true']).status !== 0) this.skip()
      const command = ['sh', '-c', READ_ONLY, 'sh', process.execPath, project.program, ...args]
      const { status, stdout, stderr } = spawnSync('unshare', ['--mount', ...command], {
        cwd: project.directory,
        encoding: 'utf8',
        env: { PATH: `${join(project.directory, 'bin')}:${process.env['PATH']}`, HOME: project.directory },
      })
      expect([status, stdout], stderr).to.deep.equal([1, ''])
      expect(stderr).to.contain(project.directory).and.to.contain('EROFS').and.to.contain('Remedy:')
      expect(stderr).not.to.match(/\n\s+at /)
    })

  for (const args of COMMANDS.filter(([name]) => name !== 'maintenance'))
    it(`name the cause on a full disk, and leave every file as it was: mortar ${args.join(' ')}`, function () {
      if (spawnSync('unshare', ['--mount', 'true']).status !== 0) this.skip()
      const command = ['bash', '-c', FULL, 'sh', process.execPath, project.program, ...args]
      const { status, stdout, stderr } = spawnSync('unshare', ['--mount', ...command], {
        cwd: project.directory,
        encoding: 'utf8',
        env: { PATH: `${join(project.directory, 'bin')}:${process.env['PATH']}`, HOME: project.directory },
      })
      rmSync(join(project.directory, 'full'), { recursive: true })
      expect([status, stdout], stderr).to.deep.equal([1, ''])
      expect(stderr).to.contain('ENOSPC').and.to.contain('Remedy:')
      expect(stderr).not.to.match(/\n\s+at |A file/)
    })

  it('end for a folder that cannot exist', function () {
    if (process.platform !== 'linux') this.skip()
    const { code, err } = project.mortar(['maintenance', 'on'], {
      variables: { FRAMEWORK_STATE: '/proc/none/state' },
    })
    expect([code, err]).to.deep.equal([1, err])
    expect(err).to.contain('/proc/none/state/maintenance.json cannot be read or changed (ENOENT)')
  })

  it('name the remedy for a name that the file system does not accept', () => {
    const name = 'x'.repeat(300)
    const { code, err } = project.mortar(['generate', 'route', 'GET', `/${name}/y`])
    expect(code).to.equal(1)
    expect(err).to.contain(`${name} cannot be opened or written (ENAMETOOLONG)`).and.to.contain('Remedy:')
    expect(err).not.to.match(/\n\s+at /)
  })

  it('name a file in the place of a folder', () => {
    project.write({ '.framework': '' })
    const { code, err } = project.mortar(['build'])
    expect(code).to.equal(1)
    expect(err)
      .to.match(/\.framework.*\((EEXIST|ENOTDIR)\)/)
      .and.to.contain('Remedy:')
    expect(err).not.to.match(/\n\s+at /)
    rmSync(join(project.directory, '.framework'))
  })
})
