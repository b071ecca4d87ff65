import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { checkApplication } from '../../src/cli/doctor/check-application.ts'
import { checkInstallation } from '../../src/cli/doctor/check-installation.ts'
import { weaknessOfSecret } from '../../src/support/weak-secret.ts'
import type { Ran } from './command-host.ts'
import { createProject, type Files, type TestProject } from './project.ts'

interface Report {
  readonly ok: boolean
  readonly findings: readonly {
    readonly level: string
    readonly code: string
    readonly found: string
    readonly remedy: string
    readonly page: string
  }[]
}

const ROUTE = { 'routes/index.get.ts': 'export default () => 1\n' }
/** Of an application that lists what it imports. */
const packageFile = (...names: readonly string[]): Files => ({
  'package.json': JSON.stringify({
    name: 'shop',
    type: 'module',
    dependencies: Object.fromEntries(
      ['mortar', '@mortar/auth', '@mortar/database', ...names].map((name) => [name, '*']),
    ),
    devDependencies: { typeorm: '*' },
  }),
})
const SECRET = 'Zk3vQ9xL0pWm7RtY5uBn2cHd8fGj1aSe'

const withAuth = (entities: string, more = '', options = ''): Files => ({
  ...ROUTE,
  'app.ts': `import { join } from 'node:path'
import { createApp, env } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import * as schema from '@mortar/auth/basic/schema'
import { database } from '@mortar/database'

const migrations = join(import.meta.dirname, 'migrations')
const file = join(import.meta.dirname, 'app.db')
export const app = createApp({
  ${more}
  bricks: [
    database({ type: 'better-sqlite3', database: file, entities: ${entities}, migrations }),
    auth(basicAuth({ secret: env.secret('AUTH_SECRET'), ${options} })),
  ],
})
void schema
`,
})

/** Files, variables, and the code that the doctor has to report. */
const BROKEN: Readonly<Record<string, readonly [Files, Readonly<Record<string, string>>, string]>> = {
  'a missing secret': [withAuth('schema'), {}, 'MORTAR_ENV'],
  'a short secret': [withAuth('schema'), { AUTH_SECRET: 'short' }, 'MORTAR_DOCTOR_SECRET'],
  'a short secret behind a good one': [
    ROUTE,
    { SESSION_SECRETS: `${SECRET}, short` },
    'MORTAR_DOCTOR_SECRET',
  ],
  'a schema without the tables of auth': [withAuth('[]'), { AUTH_SECRET: SECRET }, 'MORTAR_DOCTOR_TABLES'],
  'a database that is not there': [
    withAuth('schema'),
    { AUTH_SECRET: SECRET },
    'MORTAR_DOCTOR_DATABASE_FILE',
  ],
  'an unknown mode': [ROUTE, { NODE_ENV: 'prod' }, 'MORTAR_DOCTOR_ENVIRONMENT'],
  'no address in production': [ROUTE, { NODE_ENV: 'production' }, 'MORTAR_DOCTOR_APP_URL'],
  'options that break level 1 of ASVS in production': [
    withAuth('schema', '', "limits: false, appUrl: 'https://app.example.com'"),
    { AUTH_SECRET: SECRET, NODE_ENV: 'production' },
    'MORTAR_DOCTOR_ASVS',
  ],
  'no routes': [{}, {}, 'MORTAR_DOCTOR_ROUTES'],
  'a broken route': [{ 'routes/users.ts': 'export default 1\n' }, {}, 'MORTAR_ROUTE_METHOD_MISSING'],
  'a guard without auth': [
    { 'routes/a.get.ts': 'export const auth = true\nexport default () => 1\n' },
    {},
    'MORTAR_AUTH_MISSING',
  ],
  'an import of nothing': [{ ...ROUTE, 'app.ts': `import './nothing.ts'\n` }, {}, 'MORTAR_DOCTOR_IMPORT'],
  'an import without its extension': [
    {
      ...ROUTE,
      'words.ts': 'export const a = 1\n',
      'routes/a.get.ts': `import { a } from '../words'\nexport default () => a\n`,
    },
    {},
    'MORTAR_DOCTOR_IMPORT',
  ],
  'a missing export': [
    {
      ...ROUTE,
      'words.ts': 'export const a = 1\n',
      'app.ts': `import { b } from './words.ts'\nexport const app = b\n`,
    },
    {},
    'MORTAR_DOCTOR_IMPORT',
  ],
  'a syntax error': [{ ...ROUTE, 'app.ts': 'export const app = (\n' }, {}, 'MORTAR_DOCTOR_IMPORT'],
  'a module without app': [{ ...ROUTE, 'app.ts': 'export const application = 1\n' }, {}, 'MORTAR_CLI_APP'],
  'a broken package.json': [{ ...ROUTE, 'package.json': '{' }, {}, 'MORTAR_CLI_PACKAGE'],
  'no modules': [{ ...ROUTE, 'package.json': '{}' }, {}, 'MORTAR_DOCTOR_MODULE'],
  'a package that is not installed': [
    { ...ROUTE, 'package.json': '{ "type": "module", "dependencies": { "nothing-there": "1.0.0" } }' },
    {},
    'MORTAR_DOCTOR_INSTALL',
  ],
  'a package of development that is not installed': [
    { ...ROUTE, 'package.json': '{ "type": "module", "devDependencies": { "nothing-there": "1.0.0" } }' },
    {},
    'MORTAR_DOCTOR_INSTALL',
  ],
  'a stale manifest': [
    { ...ROUTE, '.framework/routes.ts': `export const modules = {\n  'gone.get.ts': module0,\n}\n` },
    {},
    'MORTAR_MANIFEST_STALE',
  ],
  'a circle of bricks': [
    {
      ...ROUTE,
      'app.ts': `import { createApp, defineBrick } from 'mortar'
export const app = createApp()
  .use(defineBrick({ name: 'a', requires: ['b'] }))
  .use(defineBrick({ name: 'b', requires: ['a'] }))
`,
    },
    {},
    'MORTAR_BRICK_CIRCULAR',
  ],
  'a service that cannot be made': [
    {
      ...ROUTE,
      'app.ts': `import { createApp, singleton } from 'mortar'
export const app = createApp().provide({ a: singleton(({ nothing }: { nothing?: unknown }) => nothing) })
`,
    },
    {},
    'MORTAR_SERVICE_MISSING',
  ],
}

describe('mortar doctor', function () {
  let project: TestProject | undefined
  afterEach(() => project?.remove())

  function examine(files: Files, variables: Readonly<Record<string, string>> = {}): Ran & { report: Report } {
    project = createProject({ ...packageFile(), ...files })
    const ran = project.mortar(['doctor', '--json'], { variables })
    return { ...ran, report: JSON.parse(ran.out) as Report }
  }

  for (const [name, [files, variables, expected]] of Object.entries(BROKEN))
    it(`finds ${name}`, () => {
      const { code, report } = examine(files, variables)
      const found = report.findings.filter(({ level }) => level !== 'note')
      expect(found.map((each) => each.code)).to.include(expected)
      expect([code, report.ok]).to.deep.equal([1, false])
      for (const { remedy, page } of report.findings) {
        expect(remedy).to.have.length.above(5)
        expect(page).to.match(/^node_modules\/mortar\/docs\/(cli|startup-errors)\.md/)
      }
    })

  it('shows the command that makes a secret, and that .env takes its output', () => {
    const { report } = examine(withAuth('schema'), { AUTH_SECRET: 'short' })
    const { remedy } = report.findings.find(({ code }) => code === 'MORTAR_DOCTOR_SECRET')!
    expect(remedy).to.equal(
      'Generate 32 random bytes: AUTH_SECRET="$(openssl rand -base64 32)" in a shell. In .env, write the output of the command',
    )
  })

  it('finds all tables of bricks that the schema module lacks', () => {
    const { report } = examine({
      ...ROUTE,
      'jobs/.gitkeep': '',
      'channels/.gitkeep': '',
      'app.ts': `import { createApp } from 'mortar'
import { database } from '@mortar/database'
import { jobs } from '@mortar/jobs'
import { limits } from '@mortar/limits'
import { realtime } from '@mortar/realtime'
import { channels } from '@mortar/realtime/channels'
import { webhooks } from '@mortar/webhooks'

const place = (folder: string) => new URL(folder, import.meta.url)
export const app = createApp()
  .use(database({ type: 'better-sqlite3', database: 'app.db', entities: [] }))
  .use(jobs({ directory: place('./jobs') }))
  .use(webhooks({ events: [] }))
  .use(limits({ store: 'database' }))
  .use(realtime())
  .use(channels({ directory: place('./channels'), engine: 'database' }))
`,
    })
    const found = report.findings.filter(({ level }) => level === 'error')
    const bricks = ['JOBS', 'WEBHOOKS', 'LIMITS', 'CHANNELS']
    expect(found.map(({ code }) => code)).to.have.members(bricks.map((brick) => `MORTAR_${brick}_TABLE`))
    for (const { remedy } of found) expect(remedy).to.match(/schema/)
  })

  it('finds nothing in a correct application, and explains its settings', () => {
    const { code, report } = examine(ROUTE)
    expect(report.findings.map((found) => found.code)).to.deep.equal(['MORTAR_DOCTOR_PROXY'])
    expect(code).to.equal(0)
  })

  it('warns of packages that the application imports and does not list', () => {
    const files = {
      ...ROUTE,
      'tsconfig.json': JSON.stringify({ compilerOptions: { paths: { '@own/*': ['./own/*'] } } }),
      'words.ts': `import * as yup from 'yup'
import type { PoolConfig } from 'pg'
import { join } from 'node:path'
import fs from 'fs'
import '#settings'
export { join, fs, yup }
export const late = () => import('better-sqlite3')
export const alias = () => import('@own/words.ts')
export const self = () => import('shop/words.ts')
`,
      'routes/a.get.ts': `import '../words.ts'\nimport { object } from 'yup/lib'\nexport default () => object\n`,
    }
    const found = (names: readonly string[]) =>
      examine({ ...packageFile(...names), ...files }).report.findings.filter(
        ({ code }) => code === 'MORTAR_DOCTOR_DEPENDENCIES',
      )
    expect(found(['yup', 'better-sqlite3'])).to.deep.equal([])
    project?.remove()
    const [{ level, found: text, remedy } = { level: '', found: '', remedy: '' }, ...rest] = found([])
    expect([level, rest]).to.deep.equal(['warning', []])
    expect(text).to.equal(
      'package.json does not list packages that the application imports: yup (routes/a.get.ts), better-sqlite3 (words.ts).',
    )
    expect(remedy).to.equal(
      'An installation without other projects lacks them. Add them: npm install yup better-sqlite3',
    )
  })

  it('notes the level of ASVS that authentication reaches, and credentials in the query', () => {
    const { report } = examine(withAuth('schema'), { AUTH_SECRET: SECRET })
    const notes = report.findings.filter(({ level }) => level === 'note')
    const found = new Map(notes.map((each) => [each.code, `${each.found} ${each.remedy}`]))
    expect(found.get('MORTAR_DOCTOR_ASVS')).to.include('level 1').and.include('breachedPasswords (6.2.12)')
    expect(found.get('MORTAR_DOCTOR_CREDENTIALS')).to.include('14.2.1')
  })

  it('does not mention credentials in the query if none are read or no brick authenticates', () => {
    const codes = (credentials: readonly string[], serviceNames: readonly string[]): string[] =>
      checkApplication({
        options: { credentials, trustProxy: false },
        routes: [],
        serviceNames,
      } as never).map(({ code }) => code)
    expect(codes(['header', 'query'], ['authenticator'])).to.include('MORTAR_DOCTOR_CREDENTIALS')
    expect(codes(['header', 'cookie'], ['authenticator'])).not.to.include('MORTAR_DOCTOR_CREDENTIALS')
    expect(codes(['header', 'query'], [])).not.to.include('MORTAR_DOCTOR_CREDENTIALS')
  })

  it('finds pending migrations and a newer schema, and creates no database', () => {
    project = createProject({ ...packageFile(), ...withAuth('schema') })
    const variables = { AUTH_SECRET: SECRET }
    const codes = (): string[] => {
      const ran = project!.mortar(['doctor', '--json'], { variables })
      return (JSON.parse(ran.out) as Report).findings
        .filter(({ level }) => level !== 'note')
        .map(({ code }) => code)
    }
    project.write({ 'migrations/README.md': 'none yet' })
    expect(codes()).to.deep.equal(['MORTAR_DOCTOR_SCHEMA'])
    expect(existsSync(join(project.directory, 'app.db'))).to.equal(false)
    expect(project.mortar(['migrate', 'generate', 'init'], { variables }).code).to.equal(0)
    expect(codes()).to.deep.equal(['MORTAR_DOCTOR_MIGRATIONS'])
    expect(project.mortar(['migrate', 'run'], { variables }).code).to.equal(0)
    expect(codes()).to.deep.equal([])
    project.write({ 'app.ts': TAGS + withAuth('[schema, tags]')['app.ts']! })
    expect(codes()).to.deep.equal(['MORTAR_DOCTOR_SCHEMA'])
  })

  it('asks each brick for findings, and reports a check that throws', () => {
    const { code, report } = examine({
      ...ROUTE,
      'app.ts': `import { createApp, defineBrick } from 'mortar'
const page = 'https://example.com/disk'
export const app = createApp()
  .use(defineBrick({ name: 'disk', doctor: ({ environment }) => [
    { level: 'note', code: 'DISK_FULL', found: 'The disk is full in ' + environment + '.', remedy: 'Free it.', page },
  ] }))
  .use(defineBrick({ name: 'broken', doctor: () => { throw new Error('no disk') } }))
`,
    })
    const found = new Map(report.findings.map((finding) => [finding.code, finding.found]))
    expect(found.get('DISK_FULL')).to.equal('The disk is full in development.')
    expect(found.get('MORTAR_DOCTOR_BRICK')).to.equal("The check of the brick 'broken' failed: no disk")
    expect(code).to.equal(1)
  })

  it('never shows a value of the environment', () => {
    const ran = examine(withAuth('schema'), { AUTH_SECRET: 'hunter2hunter2', NODE_ENV: 'mystery' })
    expect(ran.out + ran.err).not.to.match(/hunter2|mystery/)
  })

  it('finds an .env file that git would commit or other users may read', () => {
    project = createProject({ ...ROUTE, '.env': 'A=1\n' })
    mkdirSync(join(project.directory, '.git'))
    chmodSync(join(project.directory, '.env'), 0o644)
    const found = project.mortar(['doctor']).out
    expect(found).to.include('git does not ignore it').and.include('every user of this machine can read it')
    rmSync(join(project.directory, '.git'), { recursive: true })
  })

  it('compares Node versions by number', () => {
    const sound = { root: '/', manifest: { type: 'module' } } as never
    expect(checkInstallation(sound, '20.9.0').map(({ code }) => code)).to.deep.equal(['MORTAR_DOCTOR_NODE'])
    expect(checkInstallation(sound, '20.19.0')).to.deep.equal([])
    expect(checkInstallation(sound, '24.1.0')).to.deep.equal([])
  })

  it('compares the version of a package that the brick loads, and not the one of another package', () => {
    const root = mkdtempSync(join(tmpdir(), 'mortar-packages-'))
    const install = (folder: string, version: string): void => {
      mkdirSync(join(root, folder), { recursive: true })
      writeFileSync(join(root, folder, 'package.json'), JSON.stringify({ version }))
    }
    const found = (): string[] =>
      checkInstallation({ root, manifest: { type: 'module' } } as never).map((each) => each.found)
    install('node_modules/@opentelemetry/api', '1.10.0')
    expect(found()).to.deep.equal([])
    install('node_modules/@mortar/tracing', '0.1.0')
    expect(found()).to.deep.equal([
      'The application has @opentelemetry/api 1.10.0, but @mortar/tracing needs 1.9.1.',
    ])
    install('node_modules/@mortar/tracing/node_modules/@opentelemetry/api', '1.9.1')
    expect(found()).to.deep.equal([])
    rmSync(root, { recursive: true })
  })

  it('accepts only random secrets', () => {
    expect(weaknessOfSecret(SECRET)).to.equal(undefined)
    for (const weak of ['x'.repeat(40), 'change-me-please-change-me-please', 'abc123'])
      expect(weaknessOfSecret(weak)).to.be.a('string')
  })
})

const TAGS = `
import { EntitySchema } from 'typeorm'
const tags = new EntitySchema({ name: 'tags', columns: { id: { type: String, primary: true } } })
`
