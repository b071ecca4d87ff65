import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { bundleScript } from '../support/bundle-script.ts'

const SETTINGS = join(import.meta.dirname, '../../examples/notes/config/settings.ts')

/** An empty folder, because the settings name a variable that is in a `.env` of the working directory. */
let folder: string

/** Runs the settings of the reference application with these variables alone. */
async function readSettings(variables: Readonly<Record<string, string>>) {
  const { status, stderr } = spawnSync(process.execPath, [await bundleScript(SETTINGS)], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...variables },
    encoding: 'utf8',
  })
  return { status, stderr }
}

const STRONG = 'Zk3vQ9xL0pWm7RtY5uBn2cHd8fGj1aSeQ4oTi6yUzXs'
const COMPLETE = {
  NODE_ENV: 'production',
  APP_URL: 'https://notes.example.com',
  DATABASE_URL: 'postgres://db/notes',
  MAIL_TRANSPORT: 'memory',
}

describe('The settings of the reference application', () => {
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'mortar-settings-'))
  })
  after(() => rmdirSync(folder))

  it('name everything that production misses in one error, without a stack', async () => {
    const { status, stderr } = await readSettings({ NODE_ENV: 'production' })
    expect(status).to.equal(1)
    for (const name of ['AUTH_SECRET', 'APP_URL', 'DATABASE_URL', 'MAIL_TRANSPORT'])
      expect(stderr).to.contain(`${name} is not set`)
    expect(stderr).not.to.contain('    at ')
  })

  it('name wrong values beside missing ones, and show no value', async () => {
    const wrong = { NODE_ENV: 'prod', PORT: 'http', TRUST_PROXY: '10.0.0.0/8,nginx', AUTH_SECRET: 'hunter2' }
    const { status, stderr } = await readSettings(wrong)
    expect(status).to.equal(1)
    for (const name of ['NODE_ENV is not', 'PORT is not', 'TRUST_PROXY is not', 'AUTH_SECRET is not'])
      expect(stderr).to.contain(name)
    for (const name of ['APP_URL', 'DATABASE_URL', 'MAIL_TRANSPORT'])
      expect(stderr).to.contain(`${name} is not set`)
    expect(stderr).not.to.contain('hunter2').and.not.to.contain('nginx')
  })

  it('accept a list of secrets in place of one, and refuse a weak secret in it', async () => {
    expect(await readSettings({ ...COMPLETE, AUTH_SECRETS: `${STRONG}1,${STRONG}` })).to.deep.equal({
      status: 0,
      stderr: '',
    })
    const weak = await readSettings({ ...COMPLETE, AUTH_SECRETS: `${STRONG},short` })
    expect(weak.status).to.equal(1)
    expect(weak.stderr).to.contain('AUTH_SECRETS is not').and.not.to.contain('short,')
  })

  it('need nothing in development but the secret', async () => {
    expect(await readSettings({ AUTH_SECRET: 'weak' })).to.deep.equal({ status: 0, stderr: '' })
  })

  it('send no mail under test, also with the transport of the developer in .env', async () => {
    const variables = {
      PATH: process.env['PATH'],
      MAIL_TRANSPORT: 'smtp://localhost:2525',
      AUTH_SECRET: STRONG,
    }
    const script = pathToFileURL(await bundleScript(join(SETTINGS, '../mail.ts'))).href
    const print = `const { mailOptions } = await import('${script}'); console.log(mailOptions.transport)`
    for (const [environment, transport] of [
      ['test', 'memory'],
      ['development', 'smtp://localhost:2525'],
    ]) {
      const env = { ...variables, NODE_ENV: environment }
      const ran = spawnSync(process.execPath, ['--input-type=module', '-e', print], { cwd: folder, env })
      expect(ran.stdout.toString(), ran.stderr.toString()).to.equal(`${transport}\n`)
    }
  })
})
