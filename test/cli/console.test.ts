import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { freePort } from '../support/free-port.ts'
import { outputOf } from '../docs/child-output.ts'
import { builtFramework } from '../support/built-framework.ts'
import { createProject, type TestProject } from './project.ts'

const APP = `import { join } from 'node:path'
import { createApp, env, NotFound, scoped, ServiceUnavailable, singleton, Unauthorized } from 'mortar'
import { database } from '@mortar/database'
import { jobs } from '@mortar/jobs'
import { MortarJobs } from '@mortar/jobs/schema'
import { metrics } from '@mortar/metrics'

export const app = createApp({ bricks: [
  database({ type: 'better-sqlite3', database: join(import.meta.dirname, 'app.db'), entities: [MortarJobs], synchronize: true }),
  jobs({ directory: join(import.meta.dirname, 'jobs') }),
  metrics({ port: env.port('METRICS_PORT', { default: 9464 }) }),
]}).provide({
  crypto: singleton(() => 'of the application'),
  greeting: scoped(({ user, db }) => ({ text: 'for ' + (user?.id ?? 'nobody') + ' in ' + db.options.type })),
  diary: scoped(({ user }) => {
    if (user === null) throw new Unauthorized()
    return { page: (id) => { throw new NotFound('There is no page ' + id + '.') } }
  }),
  broken: singleton(() => ({ run: () => greting })),
  weather: singleton(() => { throw new ServiceUnavailable('The station is silent.') }),
})
`
const JOB = `import { job } from '@mortar/jobs'
export default job({}, () => { process.stderr.write('the job runs\\n') })
`

const MAIN = (): string => join(builtFramework(), 'mortar/dist/cli/main.js')

describe('mortar console', function () {
  let project: TestProject
  let variables: Record<string, string>
  before(async () => {
    project = createProject({ 'app.ts': APP, 'jobs/tidy.ts': JOB, 'app.db': '' })
    variables = { NODE_ENV: 'production', METRICS_PORT: String(await freePort()) }
  })
  after(() => project.remove())
  const settings = () => ({
    cwd: project.directory,
    env: { PATH: process.env['PATH'], NO_COLOR: '1', ...variables },
  })
  const evaluate = (code: string, ...options: string[]) =>
    project.mortar(['console', '--eval', code, ...options], { variables })

  it('starts the bricks, but neither metrics nor jobs', () => {
    const code = `const { default: tidy } = await import(${JSON.stringify(join(project.directory, 'jobs/tidy.ts'))})
      await jobs.add(tidy)
      const metrics = await fetch('http://127.0.0.1:' + process.env.METRICS_PORT).then(() => 'serves', () => 'silent')
      await new Promise((done) => setTimeout(done, 1500))
      return { metrics, jobs: await jobs.counts(), text: greeting.text, as: as({ id: 'ada' }).greeting.text, crypto: typeof crypto, large: 2n ** 64n }`
    const ran = evaluate(code, '--write', '--json')
    expect([ran.err, ran.code]).to.deep.equal(['', 0])
    expect(JSON.parse(ran.out)).to.deep.include({
      metrics: 'silent',
      text: 'for nobody in better-sqlite3',
      as: 'for ada in better-sqlite3',
      crypto: 'object',
      large: '18446744073709551616',
    })
    expect(JSON.parse(ran.out).jobs).to.include({ waiting: 1 })
  })

  it('refuses writes in production without --write, and fails with exit code 1', () => {
    const write = "db.query('delete from mortar_jobs')"
    const refused = evaluate(write)
    expect([refused.code, refused.out]).to.deep.equal([1, ''])
    expect(refused.err).to.match(/readonly database/)
    expect(evaluate('jobs.counts()').out).to.match(/waiting: 1/)
    const development = project.mortar(['console', '--eval', write], {
      variables: { NODE_ENV: 'development' },
    })
    expect(development.code, development.err).to.equal(0)
  })

  it('starts bricks after those that they need, and stops them before', () => {
    const brick = (name: string, more = '') =>
      `defineBrick({ name: '${name}', ${more} start: () => console.error('${name} starts'), stop: () => console.error('${name} stops') })`
    const small = createProject({
      'app.ts': `import { createApp, defineBrick } from 'mortar'
export const app = createApp({ bricks: [${brick('second', "requires: ['first'],")}, ${brick('first')}] })
`,
    })
    const ran = small.mortar(['console', '--eval', '1'])
    small.remove()
    expect([ran.code, ran.err.match(/\w+ (?:starts|stops)/g)]).to.deep.equal([
      0,
      ['first starts', 'second starts', 'second stops', 'first stops'],
    ])
  })

  it('refuses code that is not JavaScript with exit code 2, before anything starts', () => {
    for (const code of ['1 +', 'await', 'const = 1']) {
      const { code: exit, err } = evaluate(code)
      expect([exit, err], code).to.deep.equal([2, err])
      expect(err).to.include('The code is not JavaScript')
    }
    expect(project.mortar(['console', 'db']).code).to.equal(2)
  })

  it('names the remedy of an error that the code throws: a user, nothing, or the services of the application', () => {
    const user = evaluate('diary.page(1)')
    expect([user.code, user.out]).to.deep.equal([1, ''])
    expect(user.err).to.include("as({ id: 'ID' })").and.include('[MORTAR_CLI_CONSOLE]')
    const missing = evaluate("as({ id: 'ada' }).diary.page(1)")
    expect([missing.code, missing.err]).to.deep.equal([1, 'mortar: NotFound: There is no page 1.\n'])
    const silent = evaluate('weather')
    expect([silent.code, silent.err]).to.deep.equal([1, silent.err])
    expect(silent.err).to.include('mortar doctor').and.include('[MORTAR_CLI_DATABASE]')
  })

  it('names the services for a name that is not defined, but not for one in the files of the application', () => {
    const run = (code: string) =>
      project.mortar(['console', '--eval', code], { variables: { NODE_ENV: 'development' } })
    const mistyped = run('greting.text')
    expect([mistyped.code, mistyped.err]).to.deep.equal([
      1,
      "mortar: greting is not defined, and no service has this name.\n  Remedy: Did you mean 'greeting'? [MORTAR_CLI_CONSOLE]\n",
    ])
    expect(run('services.greting').err).to.equal(mistyped.err)
    expect(run('const a = 1; return mail.send(a)').err)
      .to.include('mail is not defined')
      .and.match(/The services are .*\bdiary\b.*\bjobs\b/)
    expect(run('broken.run()').err).to.match(/ReferenceError: greting is not defined\n\s+at .*app\.ts/)
  })

  it('has a prompt that names the mode, awaits, and goes on after an error', async () => {
    const command = `${process.execPath} ${MAIN()} console`
    const child = spawn('script', ['-qec', command, '/dev/null'], settings())
    const output = outputOf(child)
    let shown = ''
    const lines = [
      'await jobs.counts()',
      'nothing.here',
      'events.typed',
      'new Date(0) instanceof Date',
      '.exit',
    ]
    for (const line of lines) {
      await output.until(/production read-only> /)
      shown += output.text()
      output.clear()
      child.stdin.write(`${line}\n`)
    }
    const [status] = (await once(child, 'exit')) as [number]
    expect(status).to.equal(0)
    expect(shown).to.include('Writes are refused by: database.')
    expect(shown).to.match(/waiting: \d[^]+ReferenceError: nothing is[^]+\[Function[^]+true/)
  })

  it('runs the code of a file that is its standard input', () => {
    const input = 'const { waiting } = await jobs.counts()\nreturn typeof waiting'
    const { stdout, status } = spawnSync(process.execPath, [MAIN(), 'console'], {
      ...settings(),
      input,
      encoding: 'utf8',
    })
    expect([status, stdout]).to.deep.equal([0, 'number\n'])
  })

  it('does not make a database that is missing', () => {
    rmSync(join(project.directory, 'app.db'))
    const { code, err } = evaluate('1')
    expect([code, err]).to.deep.equal([1, err])
    expect(err).to.include('There is no database').and.include('mortar migrate run')
  })
})
