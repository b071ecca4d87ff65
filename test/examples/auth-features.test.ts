import { spawnSync } from 'node:child_process'
import { expect } from 'chai'
import { ROOT } from '../architecture/tree.ts'

/** Signs up, redeems the link of the mail, and prints the user and the sessions. */
const PROGRAM = `
import { createClient } from 'mortar/testing'
const { app } = await import('./examples/notes/app.ts')
await app.ready()
const client = createClient(app)
const { body } = await client.post('/auth/signup', { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' })
const ada = client.withToken(body.accessToken)
await app.services.authProvider.flows.settled()
const token = /#token=([\\w-]+)/.exec(app.services.mailOutbox.list()[0].text)[1]
const { status } = await ada.post('/auth/verify-email', { token })
const { body: { sessions } } = await ada.get('/auth/sessions')
console.log(JSON.stringify([status, sessions.length, sessions[0].current]))
await app.close()
`

describe('The reference application with AUTH_FEATURES', () => {
  it('lets users prove their address and see their sessions', () => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', '--conditions=source', '--input-type=module', '--eval', PROGRAM],
      {
        cwd: ROOT,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], NODE_ENV: 'test', AUTH_FEATURES: 'true' },
      },
    )
    expect(stdout.trim().split('\n').at(-1), stderr).to.equal('[200,1,true]')
  })
})
