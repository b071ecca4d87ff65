import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { check, type Options } from 'prettier'
import { DataSource } from 'typeorm'
import { ROOT } from '../architecture/tree.ts'
import { freePort } from '../support/free-port.ts'
import { createProject, type Serving, type TestProject } from './project.ts'
import {
  installDependencies,
  linkDependencies,
  packFramework,
  type PackedFramework,
  runScript,
} from './scaffold.ts'

/**
 * A run by hand runs the default application. `some`, for `.ci/run`, runs three, in which each choice occurs; `all` runs
 * every combination, which takes minutes.
 */
const RUNS = { all: 6, some: 3 }[process.env['TEST_SCAFFOLD'] ?? ''] ?? 1

const COMBINATIONS = [
  { database: 'sqlite', auth: 'basic' },
  { database: 'sqlite', auth: 'basic', flags: ['--auth-features'] },
  { database: 'postgres', auth: 'none' },
  { database: 'none', auth: 'none' },
  { database: 'postgres', auth: 'basic' },
  { database: 'sqlite', auth: 'none' },
] as const satisfies readonly {
  readonly database: string
  readonly auth: string
  readonly flags?: readonly string[]
}[]

/** The options of a combination. */
function optionsOf(combination: Combination): string[] {
  const { database, auth } = combination
  return ['--database', database, '--auth', auth, ...('flags' in combination ? combination.flags : [])]
}

/** Options of every kind of application. */
const KINDS = [
  ...COMBINATIONS.flatMap((combination) => {
    const options = optionsOf(combination)
    return [options, [...options, '--no-example']]
  }),
  ['--database', 'mysql'],
  ['--database', 'mysql', '--no-example'],
  ['--database', 'mysql', '--auth-features'],
  ['--database', 'postgres', '--auth-features', '--no-example'],
  ['--database', 'mysql', '--auth', 'none'],
  ['--no-lint', '--no-format', '--no-docker', '--no-ci'],
] as const

type Combination = (typeof COMBINATIONS)[number]

describe('mortar new', function () {
  let project: TestProject
  before(() => void (project = createProject({})))
  after(() => project.remove())

  const create = (...args: string[]) => project.mortar(['new', ...args, '--no-install'])
  const read = (path: string) => readFileSync(join(project.directory, path), 'utf8')

  it('makes an application and prints the next steps', () => {
    const { code, out, err } = create('first')
    expect([code, err]).to.deep.equal([0, 'Created first with 39 files in first.\n'])
    expect(out).to.match(/cd first\n {2}npm install\n {2}npm run dev\n/)
  })

  it('generates a secret that only the owner of the file may read', () => {
    create('one')
    create('two')
    const secret = (name: string) => /^AUTH_SECRET=([\w-]{43})$/m.exec(read(`${name}/.env`))?.[1]
    expect(secret('one')).to.be.a('string')
    expect(secret('one')).not.to.equal(secret('two'))
    expect(statSync(join(project.directory, 'one/.env')).mode & 0o777).to.equal(0o600)
    expect(read('one/.env.example')).to.match(/^AUTH_SECRET=$/m)
    expect(read('one/.gitignore')).to.match(/^\.env$/m)
  })

  describe('in every kind', () => {
    const names = KINDS.map((_options, at) => `app-${at}`)
    before(() => {
      for (const [at, options] of KINDS.entries()) expect(create(names[at]!, ...options).code).to.equal(0)
    })

    const filesOf = (name: string) =>
      readdirSync(join(project.directory, name), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => ({ name: entry.name, path: join(entry.parentPath, entry.name) }))

    it('leaves no template placeholder in the files, and no name of another application', () => {
      for (const file of names.flatMap(filesOf)) {
        const text = readFileSync(file.path, 'utf8')
        expect(text, file.path).not.to.match(/\{\{|#(if|end)\b|examples\/notes|'\.\.\/\.\.\/config|'Notes'/)
        expect(file.name).not.to.match(/\.tpl$|^dot-/)
      }
    })

    it('leaves the address to listen(), which binds those of IPv6 too in production, also in a container', () => {
      const deployed = ['Dockerfile', 'config/settings.ts', '.env.example'].map((path) =>
        read(`app-0/${path}`),
      )
      const notes = ['deploy/Dockerfile', 'config/settings.ts'].map((path) =>
        readFileSync(join(ROOT, 'examples/notes', path), 'utf8'),
      )
      for (const text of [...deployed, ...notes]) expect(text).not.to.include('0.0.0.0')
    })

    it('starts before its first test, so that a test can read app.services', () => {
      for (const name of names) expect(read(`${name}/test/setup.ts`)).to.include('await app.ready()')
    })

    it('begins with a migration if it has the tables of users, and with those of the features', () => {
      for (const name of names) {
        const files = filesOf(name).filter(({ path }) => /\/migrations\/.+\.ts$/.test(path))
        const steps = files.map((file) => file.name.replace(/^\d+/, ''))
        const hasUsers = read(`${name}/app.ts`).includes('auth(')
        const hasFeatures = existsSync(join(project.directory, name, 'feature-schema.ts'))
        const later = hasFeatures ? ['-auth-features.ts', '-second-factor.ts'] : []
        expect(steps, name).to.deep.equal(hasUsers || steps.length > 0 ? ['-init.ts', ...later] : [])
      }
    })

    it('writes files that Prettier would not change', async () => {
      const options = JSON.parse(read(`${names[0]!}/.prettierrc.json`)) as Options
      const checked = new Set<string>()
      for (const { name, path } of names.flatMap(filesOf)) {
        const text = readFileSync(path, 'utf8')
        // Most files are the same in every kind.
        if (path.includes('/migrations/') || !/\.(ts|json|md|yml)$/.test(path) || checked.has(name + text))
          continue
        checked.add(name + text)
        expect(await check(text, { ...options, filepath: path }), path).to.equal(true)
      }
    })

    it('keeps the formatter and the linter away from generated clients, as the documentation writes them', () => {
      const [, folder] = /--output (\w+)\/schema\.ts/.exec(
        readFileSync(join(ROOT, 'docs/openapi.md'), 'utf8'),
      )!
      expect(read(`${names[0]!}/.prettierignore`).split('\n')).to.include.members([
        `${folder}/`,
        'openapi.json',
      ])
      const rules: unknown = JSON.parse(read(`${names[0]!}/.oxlintrc.json`))
      expect(rules).to.have.property('ignorePatterns').that.includes(folder)
    })

    it('leaves out what a --no option names', () => {
      const bare = names.at(-1)!
      const left = filesOf(bare).map(({ name }) => name)
      expect(left).not.to.include.oneOf(['Dockerfile', 'ci.yml', '.oxlintrc.json', '.prettierrc.json'])
      expect(read(`${bare}/package.json`)).not.to.match(/lint|prettier/)
    })
  })

  it('makes a Git repository, but not inside another one or with --no-git', () => {
    create('tracked')
    create('untracked', '--no-git')
    const isRepository = (name: string) => existsSync(join(project.directory, name, '.git'))
    expect([isRepository('tracked'), isRepository('untracked')]).to.deep.equal([true, false])
    const inner = project.mortar(['new', 'inner', '--no-install'], {
      directory: join(project.directory, 'tracked'),
    })
    expect([inner.code, isRepository('tracked/inner')]).to.deep.equal([0, false])
  })

  it('leaves users out if there is no database', () => {
    create('bare', '--database', 'none')
    expect(readdirSync(join(project.directory, 'bare'))).not.to.include.members(['schema.ts', 'migrations'])
    expect(read('bare/package.json')).not.to.include('typeorm')
  })

  it('writes nothing into a folder with files, except into a new git clone', () => {
    mkdirSync(join(project.directory, 'full'))
    writeFileSync(join(project.directory, 'full/thesis.txt'), 'ten years of work')
    const refused = create('full')
    expect(refused.code).to.equal(1)
    expect(refused.err).to.include('MORTAR_CLI_FOLDER')
    expect(readdirSync(join(project.directory, 'full'))).to.deep.equal(['thesis.txt'])

    const below = create('full/thesis.txt/app')
    expect([below.code, below.err]).to.deep.equal([
      1,
      `mortar: ${join(project.directory, 'full/thesis.txt/app')} cannot be written (ENOTDIR).\n  Remedy: Choose another place, or the rights to write there. [MORTAR_CLI_FOLDER]\n`,
    ])

    mkdirSync(join(project.directory, 'clone/.git'), { recursive: true })
    const taken = project.mortar(['new', '.', '--no-install'], {
      directory: join(project.directory, 'clone'),
    })
    expect(taken.code, taken.err).to.equal(0)
    expect(taken.out).not.to.include('cd ')
  })
})

describe('create-mortar', function () {
  it('runs mortar new of its own version', () => {
    const source = join(ROOT, 'scripts/create-mortar')
    const project = createProject({})
    try {
      cpSync(source, join(project.directory, 'create-mortar'), { recursive: true })
      const made = spawnSync(process.execPath, ['create-mortar/main.mjs', 'shop', '--no-install'], {
        cwd: project.directory,
        encoding: 'utf8',
      })
      expect(made.status, made.stderr).to.equal(0)
      expect(readdirSync(join(project.directory, 'shop'))).to.include('app.ts')
      const refused = spawnSync(process.execPath, ['create-mortar/main.mjs'], { cwd: project.directory })
      expect(refused.status).to.equal(2)
    } finally {
      project.remove()
    }
    const [own, framework] = [source, join(ROOT, 'src')].map(
      (folder) =>
        JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
          version: string
          dependencies: Record<string, string>
        },
    )
    expect([own!.version, own!.dependencies['mortar']]).to.deep.equal([
      framework!.version,
      framework!.version,
    ])
  })
})

describe(`an application that mortar new made${RUNS === 6 ? '' : ' (TEST_SCAFFOLD=all tries every kind)'}`, function () {
  this.timeout(480_000)
  let framework: PackedFramework
  let project: TestProject
  before(async () => {
    framework = await packFramework()
    project = createProject({}, framework.directory)
  })
  after(() => {
    project.remove()
    framework.remove()
  })

  for (const combination of COMBINATIONS.slice(0, RUNS))
    it(`checks, tests, builds and runs: ${optionsOf(combination).join(' ')}`, async () => {
      const { database } = combination
      const name = `${database}-${combination.auth}${'flags' in combination ? '-more' : ''}`
      const made = project.mortar([
        'new',
        name,
        ...optionsOf(combination),
        '--no-install',
        '--mortar',
        `file:${framework.tarballs}`,
      ])
      expect(made.code, made.err).to.equal(0)
      const directory = join(project.directory, name)
      if (RUNS > 1 && combination === COMBINATIONS[0]) await installDependencies(directory)
      else linkDependencies(directory, framework.directory)

      for (const script of ['check', 'lint', 'format:check', 'test', 'build']) runScript(directory, script)
      await withDatabase(database, async (url) => {
        if (database === 'postgres' && url === undefined) return
        const variables = url === undefined ? {} : { DATABASE_URL: url }
        await tryInDevelopment(directory, combination, variables)
        if (database !== 'none') expectNoDrift(directory, variables)
        await tryInProduction(directory, combination, variables)
      })
    })

  const bare = [['--auth-features'], ['--auth', 'basic'], ['--auth', 'none']]
  for (const [at, options] of bare.slice(0, RUNS).entries())
    it(`passes its own types and rules without the example: ${options.join(' ')}`, () => {
      const name = `bare-${at}`
      const made = project.mortar(['new', name, ...options, '--no-example', '--no-install'])
      expect(made.code, made.err).to.equal(0)
      const directory = join(project.directory, name)
      linkDependencies(directory, framework.directory)
      for (const script of ['check', 'lint']) runScript(directory, script)
    })

  async function tryInDevelopment(
    directory: string,
    { auth }: Combination,
    variables: Variables,
  ): Promise<void> {
    const port = String(await freePort())
    const serving = project.serve(['dev'], { directory, variables: { PORT: port, ...variables } })
    await stopping(serving, async () => {
      await serving.output.until(/Ready in/)
      const url = `http://127.0.0.1:${port}`
      const pages = await pathsOf(url)
      expect(pages).to.deep.equal(auth === 'basic' ? ['/docs', '/_framework/mail'] : ['/docs'])
      for (const page of pages) expect((await fetch(url + page)).status, page).to.equal(200)
      if (auth === 'basic') expect((await signUp(url)).status).to.equal(201)
    })
  }

  /** Production finds the tables that development made. */
  async function tryInProduction(
    directory: string,
    { auth }: Combination,
    variables: Variables,
  ): Promise<void> {
    if (auth === 'basic') {
      const { err } = project.mortar(['start'], { directory, variables })
      expect(err).to.include('APP_URL is not set').and.to.include('MAIL_TRANSPORT is not set')
      if (variables['DATABASE_URL'] === undefined) expect(err).to.include('DATABASE_URL is not set')
    }
    const port = String(await freePort())
    const needed = {
      APP_URL: 'https://example.com',
      DATABASE_URL: 'sqlite:data/app.db',
      MAIL_TRANSPORT: 'memory',
    }
    const serving = project.serve(['start'], {
      directory,
      variables: { PORT: port, ...needed, ...variables },
    })
    await stopping(serving, async () => {
      await serving.output.until(/listens at/)
      const url = `http://127.0.0.1:${port}`
      for (const path of await pathsOf(url)) expect((await fetch(url + path)).status, path).to.equal(200)
      expect((await fetch(`${url}/_framework/mail`)).status).to.equal(404)
      if (auth === 'basic') expect((await signUp(url)).status).to.equal(409)
    })
  }

  function expectNoDrift(directory: string, variables: Variables): void {
    const { err } = project.mortar(['migrate', 'generate', 'drift'], { directory, variables })
    expect(err).to.include('already matches the schema')
  }
})

type Variables = Readonly<Record<string, string>>

/** The paths that `GET /` names. */
async function pathsOf(url: string): Promise<string[]> {
  const body = (await (await fetch(url)).json()) as Readonly<Record<string, string>>
  return Object.values(body).filter((value) => value.startsWith('/'))
}

function signUp(url: string): Promise<Response> {
  const user = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }
  const headers = { 'Content-Type': 'application/json' }
  return fetch(`${url}/auth/signup`, { method: 'POST', headers, body: JSON.stringify(user) })
}

async function stopping(serving: Serving, use: () => Promise<void>): Promise<void> {
  try {
    await use()
  } catch (error) {
    throw new Error(`It wrote:\n${serving.output.text()}`, { cause: error })
  } finally {
    await serving.stop()
  }
}

/** A PostgreSQL database of its own, where there is a server; the other kinds need none. */
async function withDatabase(
  database: Combination['database'],
  use: (url: string | undefined) => Promise<void>,
): Promise<void> {
  const server = process.env['TEST_POSTGRES_URL']
  if (database !== 'postgres' || server === undefined) return use(undefined)
  const client = await new DataSource({ type: 'postgres', url: server }).initialize()
  const name = `mortar_new_${process.pid}`
  try {
    await client.query(`create database ${name}`)
    await use(Object.assign(new URL(server), { pathname: `/${name}` }).href)
  } finally {
    await client.query(`drop database if exists ${name} with (force)`)
    await client.destroy()
  }
}
