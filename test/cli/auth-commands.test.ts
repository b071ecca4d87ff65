import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Ran } from './command-host.ts'
import { createProject, type TestProject } from './project.ts'

const APP = `import { join } from 'node:path'
import { createApp } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import { AuthEndedSessions, AuthRefreshTokens, AuthResetTokens, AuthUsers } from '@mortar/auth/basic/schema'
import { database } from '@mortar/database'

const entities = [AuthEndedSessions, AuthRefreshTokens, AuthResetTokens, AuthUsers]
export const app = createApp({ appUrl: 'https://notes.example.com', bricks: [
  database({ type: 'better-sqlite3', database: process.env.FILE ?? join(import.meta.dirname, 'app.db'), entities, synchronize: true }),
  auth(basicAuth({ secret: 'k3Jv8mQz1Xw5Tn7Rb2Yd9Lc4Hf6Gp0Sa' })),
]})
`

describe('mortar auth', function () {
  let project: TestProject
  before(() => {
    project = createProject({ 'app.ts': APP })
  })
  after(() => project.remove())
  const run = (args: readonly string[], variables: Record<string, string> = {}): Ran =>
    project.mortar(['auth', ...args], { variables: { NODE_ENV: 'production', ...variables } })

  it('makes no database in the wrong place, and names the reason if a file does not open', () => {
    expect(run(['users']).err).to.include('There is no database')
    expect(existsSync(join(project.directory, 'app.db'))).to.equal(false)
    const broken = run(['users'], { FILE: join(project.directory, 'app.ts') })
    expect([broken.code, broken.out]).to.deep.equal([1, ''])
    expect(broken.err).to.match(/not a database/)
  })

  it('prints the result alone to standard output', () => {
    const users = run(['users', '--json'], { FILE: ':memory:' })
    expect([users.code, JSON.parse(users.out)], users.err).to.deep.equal([0, { users: [], next: null }])
    expect(run(['prune'], { FILE: ':memory:' }).out).to.match(/^Deleted: 0 sessions/)
  })

  it('has help, and refuses wrong arguments with exit code 2', () => {
    const help = project.mortar(['help', 'auth'])
    expect([help.code, help.out]).to.deep.equal([0, help.out])
    expect(help.out).to.include('mortar auth sign-out USER [--session ID]')
    expect(project.mortar(['help', 'auth', 'users']).out).to.include('--search VALUE')
    for (const wrong of [[], ['users', '--limit', '0'], ['prune', '--al']])
      expect(run(wrong, { FILE: ':memory:' }).code, wrong.join(' ')).to.equal(2)
    expect(project.mortar(['metrics', 'show']).err).to.include("Unknown command 'metrics'")
  })
})

describe('mortar limits', function () {
  let project: TestProject
  before(() => {
    project = createProject({
      'app.db': '',
      'app.ts': `import { join } from 'node:path'
import { createApp } from 'mortar'
import { database } from '@mortar/database'
import { limits } from '@mortar/limits'

const file = join(import.meta.dirname, 'app.db')
export const app = createApp({ bricks: [database({ type: 'better-sqlite3', database: file }), limits({ store: 'database' })] })
`,
      'routes/search.get.ts': `export const limit = { limit: 5, window: '1m', by: 'ip' }
export default () => []
`,
    })
  })
  after(() => project.remove())

  it('knows the limits of the files of routes', () => {
    const { code, out, err } = project.mortar(['limits', 'show', '--ip', '::1', '--json'])
    expect([code, err]).to.deep.equal([0, ''])
    const shown = { name: 'GET /search ip-60s', limit: 5, window: 60, used: 0, resetIn: 0 }
    expect(JSON.parse(out)).to.deep.equal({ limits: [shown] })
    expect(project.mortar(['limits', 'clear']).code).to.equal(2)
  })
})
