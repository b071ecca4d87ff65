import { chmodSync, cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { ROOT } from '../architecture/tree.ts'
import { builtFramework } from '../support/built-framework.ts'
import { createProject, type TestProject } from './project.ts'

describe('mortar add', function () {
  let project: TestProject
  beforeEach(() => {
    project = createProject({ 'config/bricks.ts': 'export const bricks = [] as const\n' })
    // Stands for npm: writes its arguments and installs nothing.
    project.write({
      'bin/npm': '#!/bin/sh\necho "$@" >> npm-calls\n${NPM_RUNS:-:} $PPID\nexit ${NPM_EXIT:-0}\n',
    })
    chmodSync(join(project.directory, 'bin/npm'), 0o755)
    rmSync(join(project.directory, 'node_modules/@mortar'))
  })
  afterEach(() => project.remove())

  const read = (path: string) => readFileSync(join(project.directory, path), 'utf8')
  const add = (args: readonly string[], variables: Readonly<Record<string, string>> = {}) =>
    project.mortar(['add', ...args], {
      alone: variables['NPM_RUNS'] !== undefined,
      variables: { PATH: `${join(project.directory, 'bin')}:${process.env['PATH']}`, ...variables },
    })

  it('installs the packages of a brick and registers it', () => {
    const { code, err } = add(['mail'])
    expect(code, err).to.equal(0)
    expect(read('npm-calls')).to.match(/^install @mortar\/mail@\d+\.\d+\.\d+ --no-fund --no-audit\n$/)
    expect(read('config/bricks.ts')).to.equal(
      `import { env } from 'mortar'
import { mail } from '@mortar/mail'
export const bricks = [
  mail({
    from: env.string('MAIL_FROM', { default: 'hello@example.com' }),
    transport: env.string('MAIL_TRANSPORT', {
      optional: true,
      requiredInProduction: true,
      example: 'smtp://user:password@mail.example.com:587',
    }),
  }),
] as const
`,
    )
    expect(err).to.include('Added mail to config/bricks.ts.\n')
  })

  it('installs from the folder of the tarballs that the application was installed from', () => {
    const { version } = JSON.parse(readFileSync(join(builtFramework(), 'mortar/package.json'), 'utf8')) as {
      version: string
    }
    const dependencies = { mortar: `file:packages/mortar-${version}.tgz` }
    project.write({ 'package.json': JSON.stringify({ name: 'shop', type: 'module', dependencies }) })
    const missing = add(['mail'])
    expect(missing.code).to.equal(1)
    expect(missing.err)
      .to.contain(`packages, which has no mortar-mail-${version}.tgz`)
      .and.contain('Remedy: Pack')
    expect(() => read('npm-calls')).to.throw('ENOENT')
    project.write({ [`packages/mortar-mail-${version}.tgz`]: '' })
    const { code, err } = add(['mail'])
    expect(code, err).to.equal(0)
    expect(read('npm-calls')).to.equal(
      `install @mortar/mail@file:packages/mortar-mail-${version}.tgz --no-fund --no-audit\n`,
    )
  })

  it('appends the environment variables of a brick to .env.example, and leaves those that are there', () => {
    project.write({ '.env.example': '# Mine.\nMAIL_TRANSPORT=memory' })
    add(['mail'])
    expect(read('.env.example')).to.equal(
      '# Mine.\nMAIL_TRANSPORT=memory\n\n# The sender of mails.\n#MAIL_FROM=hello@example.com\n',
    )
    add(['database', '--driver', 'pg'])
    expect(read('.env.example')).to.match(
      /\n\n# The PostgreSQL database\.\nDATABASE_URL=postgres:\/\/user:password@localhost:5432\/shop\n$/,
    )
  })

  it('writes the line ends that a file has', () => {
    project.write({
      'config/bricks.ts': `import { x } from './x.ts'\r\nexport const bricks = [\r\n  x(),\r\n] as const\r\n`,
      '.env.example': '# Mine.\r\nPORT=3000\r\n',
    })
    add(['mail'])
    for (const file of ['config/bricks.ts', '.env.example']) {
      const lines = read(file).split('\n')
      expect(lines.pop(), file).to.equal('')
      expect(lines.join('\n'), file).to.include('mail')
      for (const line of lines) expect(line, file).to.match(/^[^\r]*\r$/)
    }
  })

  it('registers an SQLite database with both of its imports', () => {
    const { err } = add(['database'])
    expect(read('config/bricks.ts')).to.include(`import { database, fromUrl } from '@mortar/database'`)
    expect(err).to.include('Next:\n  Create schema.ts').and.include('entities: schema, migrations: join(')
  })

  it('prints the lines for another provider, because the application has one', () => {
    const bricks = `import { auth } from '@mortar/auth'\nexport const bricks = [auth(provider)] as const\n`
    project.write({ 'config/bricks.ts': bricks })
    const { code, out } = add(['auth-hosted'])
    expect([code, read('config/bricks.ts')]).to.deep.equal([0, bricks])
    expect(out).to.match(/^Change the brick in config\/bricks\.ts:\n/)
    expect(out).to.include(`import { hostedAuth } from '@mortar/auth-hosted'`).and.include('auth(hostedAuth(')
  })

  it('changes nothing when it is repeated, unless package.json lacks a package that is in node_modules', () => {
    symlinkSync(join(builtFramework(), '@mortar'), join(project.directory, 'node_modules/@mortar'))
    expect(add(['mail']).err).to.match(/^npm install @mortar\/mail@/)
    rmSync(join(project.directory, 'npm-calls'))
    project.write({
      'package.json': JSON.stringify({ type: 'module', dependencies: { '@mortar/mail': '0.1.0' } }),
    })
    const before = read('config/bricks.ts')
    const { code, err } = add(['mail'])
    expect([code, read('config/bricks.ts')]).to.deep.equal([0, before])
    expect(err).to.equal('The packages of mail are installed.\nconfig/bricks.ts has mail.\n')
    expect(() => read('npm-calls')).to.throw('ENOENT')
  })

  it('installs the driver that is asked for, under each of its names', () => {
    for (const driver of ['pg', 'postgres']) {
      writeFileSync(join(project.directory, 'npm-calls'), '')
      expect(add(['database', '--driver', driver]).code).to.equal(0)
      expect(read('npm-calls')).to.match(/ pg@\^\S+ --no-fund --no-audit\n$/)
    }
    expect(read('config/bricks.ts')).to.include(
      `database({ type: 'postgres', url: env.string('DATABASE_URL') })`,
    )
  })

  it('allows the install scripts of packages with a compiled part, and names a brick that is needed', () => {
    const { err } = add(['auth'])
    // First of the steps: without it the application does not start, and no migration can be generated.
    expect(err).to.include(
      "Next:\n  auth needs the brick 'database': npx mortar add database\n  Set AUTH_SECRET",
    )
    expect(err.split('npx mortar add database')).to.have.length(2)
    project.write({ 'config/bricks.ts': 'import "@mortar/database"\nexport const bricks = []\n' })
    expect(add(['auth']).err).not.to.include('npx mortar add database')
    expect(JSON.parse(read('package.json')))
      .to.have.property('allowScripts')
      .that.deep.equals({ argon2: true })
  })

  it('names the steps that remain, and not again for a brick that is there', () => {
    const steps: readonly (readonly [args: readonly string[], schema: string, more: string])[] = [
      [['jobs'], '@mortar/jobs/schema', 'Made jobs, with .gitkeep'],
      [['webhooks'], '@mortar/webhooks/schema', 'webhooks({ events })'],
      [['limits', '--store', 'database'], '@mortar/limits/schema', ''],
      [['auth'], '@mortar/auth/basic/schema', 'AUTH_SECRET'],
    ]
    for (const [args, schema, more] of steps) {
      const { err } = add(args)
      expect(err).to.include('Next:').and.include(`export * from '${schema}'`).and.include(more)
      expect(err).to.include(`mortar migrate generate 'add ${args[0]}'`)
      expect(add(args).err).not.to.include('export *')
    }
    expect(add(['mail']).err).not.to.include('Next:')
  })

  it('prints what it would do with --dry-run', () => {
    const before = [read('package.json'), read('config/bricks.ts')]
    const { code, out, err } = add(['auth', '--dry-run'])
    expect(code).to.equal(0)
    expect(err).to.include('npm install @mortar/auth@')
    expect(out).to.include(`import { basicAuth } from '@mortar/auth/basic'`)
    const { err: steps } = add(['jobs', '--dry-run'])
    expect(steps).to.match(
      /Next:\n {2}jobs needs .*\n {2}mkdir jobs\n {2}Export its tables .*\n {2}npx mortar migrate generate/,
    )
    expect(() => read('jobs/.gitkeep')).to.throw('ENOENT')
    expect([read('package.json'), read('config/bricks.ts')]).to.deep.equal(before)
    expect(() => read('npm-calls')).to.throw('ENOENT')
  })

  it('prints what to write where the list of bricks cannot be changed', () => {
    project.write({ 'config/bricks.ts': 'export const bricks = load()\n' })
    const { code, out } = add(['mail'])
    expect(code).to.equal(0)
    expect(out)
      .to.include('Write into config/bricks.ts')
      .and.to.include(`import { mail } from '@mortar/mail'`)
    expect(read('config/bricks.ts')).to.equal('export const bricks = load()\n')
  })

  it('ends with 1 and leaves the list alone when the installation fails', () => {
    const { code, err } = add(['mail'], { NPM_EXIT: '3' })
    expect([code, read('config/bricks.ts')]).to.deep.equal([1, 'export const bricks = [] as const\n'])
    expect(err).to.include('Fix what npm reports above. Then repeat this command. [MORTAR_CLI_INSTALL]')
  })

  it('ends with 130 and the command that remains when Ctrl+C ends the installation', () => {
    const { code, err } = add(['mail'], { NPM_RUNS: 'kill -INT', NPM_EXIT: '1' })
    expect([code, read('config/bricks.ts')], err).to.deep.equal([130, 'export const bricks = [] as const\n'])
    expect(err).to.match(/npm was interrupted, .*\n {2}Remedy: To go on, repeat this command/)
  })

  const mistakes: readonly (readonly [args: readonly string[], says: string])[] = [
    [[], 'Give the name of a brick'],
    [['mial'], "Did you mean 'mail'?"],
    [['mail', 'auth'], 'one brick at a time'],
    [['mail', '--driver', 'pg'], 'mail has no option --driver'],
    [['database', '--driver', 'oracle'], "--driver 'oracle' is unknown"],
  ]
  for (const [args, says] of mistakes)
    it(`ends with 2: add ${args.join(' ')}`, () => {
      const { code, err } = add(args)
      expect([code, err.includes(says)], err).to.deep.equal([2, true])
    })
})

describe('mortar add with the package of a third party', function () {
  let project: TestProject
  const BRICK = 'mortar-brick-counter'
  beforeEach(() => {
    project = createProject({ 'config/bricks.ts': 'export const bricks = [] as const\n' })
    // Stands for npm: writes its arguments, and copies the package that it is asked for from the folder `registry`.
    project.write({
      'bin/npm': `#!/bin/sh
echo "$@" >> npm-calls
for each; do case $each in -*) ;; *) last=$each ;; esac; done
if [ -d "registry/\${last%%@*}" ]; then cp -R "registry/\${last%%@*}" node_modules/; else exit 1; fi
`,
    })
    chmodSync(join(project.directory, 'bin/npm'), 0o755)
    cpSync(join(ROOT, 'examples/brick-counter'), join(project.directory, 'registry', BRICK), {
      recursive: true,
    })
  })
  afterEach(() => project.remove())

  const read = (path: string) => readFileSync(join(project.directory, path), 'utf8')
  const add = (...args: string[]) =>
    project.mortar(['add', ...args], {
      variables: { PATH: `${join(project.directory, 'bin')}:${process.env['PATH']}` },
    })
  const publish = (name: string, manifest: object) =>
    project.write({
      [`registry/${name}/package.json`]: JSON.stringify({ name, version: '1.0.0', ...manifest }),
    })

  it('installs it, adds its brick and its variables, and changes nothing when it is repeated', () => {
    const { code, err } = add(BRICK)
    expect(code, err).to.equal(0)
    const bricks = `import { env } from 'mortar'
import { counter } from 'mortar-brick-counter'
export const bricks = [counter({ limit: env.integer('COUNTER_LIMIT', { default: 100 }) })] as const
`
    const variables = '# Highest value of the counter, a whole number above 0.\n#COUNTER_LIMIT=100\n'
    const calls = `install ${BRICK} --no-fund --no-audit\n`
    const files = () => [read('config/bricks.ts'), read('.env.example'), read('npm-calls')]
    expect(files()).to.deep.equal([bricks, variables, calls])
    project.write({ 'package.json': JSON.stringify({ type: 'module', dependencies: { [BRICK]: '1' } }) })
    expect(add(BRICK).code).to.equal(0)
    expect(files()).to.deep.equal([bricks, variables, calls])
  })

  it('installs its peers in the versions that it names, and allows no install script of theirs', () => {
    publish('acme-queue', {
      peerDependencies: { 'acme-driver': '^3.1.0' },
      allowScripts: { 'acme-driver': true },
      mortar: { brick: { peers: ['acme-driver'], import: { 'acme-queue': 'queue' }, use: 'queue()' } },
    })
    publish('acme-driver', {})
    const { code, err } = add('acme-queue')
    expect(code, err).to.equal(0)
    expect(read('npm-calls')).to.match(/ acme-queue -.*\n.* acme-driver@\^3\.1\.0 -/)
    expect(read('package.json')).not.to.include('allowScripts')
  })

  it('chooses one of several bricks by its name, and a variant by --variant', () => {
    const queue = {
      option: 'variant',
      default: 'memory',
      variants: { memory: { use: 'queue()' }, file: { use: 'queue(1)' } },
    }
    publish('acme-bricks', {
      mortar: {
        bricks: { queue: { import: { 'acme-bricks': 'queue' }, ...queue }, cache: { use: 'cache()' } },
      },
    })
    const several = add('acme-bricks')
    expect([several.code, several.err.includes('acme-bricks#queue, acme-bricks#cache')]).to.deep.equal([
      2,
      true,
    ])
    expect(add('acme-bricks#other').err).to.include("no brick 'other'. It has queue, cache")
    expect(add('acme-bricks#queue', '--variant', 'file').code).to.equal(0)
    expect(read('config/bricks.ts')).to.include('[queue(1)]')
  })

  it('only says what it would install with --dry-run', () => {
    const { code, err } = add(BRICK, '--dry-run')
    expect([code, err.includes(`npm install ${BRICK}`)]).to.deep.equal([0, true])
    expect(() => read('npm-calls')).to.throw('ENOENT')
  })

  const broken: readonly (readonly [mortar: unknown, says: string])[] = [
    [undefined, 'acme-bricks has no recipe'],
    [{ brick: 'queue()' }, 'it is not an object'],
    [{ brick: { peers: 'driver' } }, '"peers" has a wrong value'],
    [{ brick: { env: { 'A B': { comment: 'x' } } } }, '"env" has a wrong value'],
    [{ brick: { next: 'read' } }, '"next" has a wrong value'],
    [{ brick: { folders: ['jobs', '../jobs'] } }, '"folders" has a wrong value'],
    [{ brick: { tables: "acme-bricks'" } }, '"tables" has a wrong value'],
    [{ brick: { usage: 'queue()' } }, 'the key "usage" is unknown'],
  ]
  for (const [mortar, says] of broken)
    it(`leaves the application alone: ${says}`, () => {
      publish('acme-bricks', { mortar })
      const { code, err } = add('acme-bricks')
      expect([code, err.includes(says), err.includes('MORTAR_CLI_RECIPE')], err).to.deep.equal([
        1,
        true,
        true,
      ])
      expect(read('config/bricks.ts')).to.equal('export const bricks = [] as const\n')
    })

  it('ends with 1 when there is no such package, and with 2 for what cannot be a name', () => {
    const { code, err } = add('acme-nothing')
    expect([code, err.includes('MORTAR_CLI_INSTALL')]).to.deep.equal([1, true])
    expect(add('--', '-x').code).to.equal(2)
    expect(add('a b').code).to.equal(2)
  })
})
