import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { builtFramework } from '../support/built-framework.ts'
import { createProject, type TestProject } from './project.ts'
import { linkDependencies, runScript } from './scaffold.ts'

describe('mortar add, in a new application', () => {
  let project: TestProject
  let directory: string
  before(() => {
    project = createProject({})
    directory = join(project.directory, 'shop')
    expect(project.mortar(['new', 'shop', '--no-install', '--no-git']).code).to.equal(0)
    linkDependencies(directory, builtFramework())
    const manifest = JSON.parse(read('package.json')) as { readonly dependencies: Record<string, string> }
    for (const name of ['jobs', 'webhooks', 'limits']) {
      symlinkSync(join(builtFramework(), '@mortar', name), join(directory, 'node_modules/@mortar', name))
      manifest.dependencies[`@mortar/${name}`] = '0.1.0'
    }
    project.write({ 'shop/package.json': `${JSON.stringify(manifest, null, 2)}\n` })
  })
  after(() => project.remove())

  const read = (path: string) => readFileSync(join(directory, path), 'utf8')
  const migrations = () => readdirSync(join(directory, 'migrations/better-sqlite3'))
  const mortar = (...args: string[]) => project.mortar(args, { directory })

  it('makes the folder, the tables and the migration of a brick, so that nothing remains to be done', () => {
    const { code, err } = mortar('add', 'jobs')
    expect(code, err).to.equal(0)
    expect(err).not.to.include('Next:')
    expect(existsSync(join(directory, 'jobs/.gitkeep'))).to.equal(true)
    expect(read('schema.ts')).to.match(/\n\nexport \* from '@mortar\/jobs\/schema'\n$/)
    expect(migrations().at(-1)).to.match(/-add-jobs\.ts$/)
    for (const script of ['test', 'check', 'lint', 'format:check']) runScript(directory, script)
  })

  it('does so for the next brick, but runs no migration on a database that exists', () => {
    expect(mortar('add', 'webhooks').err).not.to.include('mortar migrate')
    const refused = mortar('add', 'limits', '--store', 'database')
    expect(refused.code).to.equal(0)
    expect(refused.err)
      .to.match(/not written: These migrations were not run on this database: AddWebhooks\d+\./)
      .and.to.match(/Next:\n {2}npx mortar migrate run\n {2}npx mortar migrate generate 'add limits'\n/)
    expect(mortar('migrate', 'run').code).to.equal(0)
    expect(mortar('migrate', 'generate', 'add limits').code).to.equal(0)
    const added = migrations().map((name) => name.replace(/^\d+/, ''))
    expect(added).to.deep.equal(['-init.ts', '-add-jobs.ts', '-add-webhooks.ts', '-add-limits.ts'])
    for (const script of ['test', 'build']) runScript(directory, script)
  })

  it('changes nothing for a brick that is there', () => {
    const files = () => [read('schema.ts'), read('config/bricks.ts'), ...migrations()]
    const before = files()
    expect(mortar('add', 'jobs').err).to.equal(
      'The packages of jobs are installed.\nconfig/bricks.ts has jobs.\n',
    )
    expect(files()).to.deep.equal(before)
  })
})
