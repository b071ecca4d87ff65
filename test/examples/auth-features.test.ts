import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { expect } from 'chai'
import { copyCompiledNotes } from './running-notes.ts'

/** Signs up, redeems the link of the mail, sets an authenticator up and logs in again, and prints the results. */
const PROGRAM = `
import { createClient, mailbox, tokenIn } from 'mortar/testing'
import { totpCode } from '@mortar/auth/testing'
const { app } = await import('./app.js')
await app.ready()
const client = createClient(app)
const { body } = await client.post('/auth/signup', { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' })
const ada = client.withToken(body.accessToken)
const token = tokenIn(await mailbox(app).waitFor('ada@example.com'))
const { status } = await ada.post('/auth/verify-email', { token })
const { body: { sessions } } = await ada.get('/auth/sessions')
const proven = client.withToken((await client.post('/auth/refresh', {})).body.accessToken)
const { body: { secret } } = await proven.post('/auth/totp', {})
const confirmed = await proven.post('/auth/totp/confirm', { code: totpCode(secret) })
const login = await client.post('/auth/login', { email: 'ada@example.com', password: 'correct horse battery' })
console.log(JSON.stringify([status, sessions.length, sessions[0].current, confirmed.status, login.body.code]))
await app.close()
`

describe('The reference application with AUTH_FEATURES', () => {
  it('lets users prove their address, see their sessions and add a second factor', () => {
    const directory = copyCompiledNotes()
    const args = ['--input-type=module', '--eval', PROGRAM]
    const env = { PATH: process.env['PATH'], NODE_ENV: 'test', AUTH_FEATURES: 'true' }
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8', env })
    rmSync(directory, { recursive: true, force: true })
    expect(stdout.trim().split('\n').at(-1), stderr).to.equal('[200,1,true,200,"second_factor_required"]')
  })
})
