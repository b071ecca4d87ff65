import { spawnSync } from 'node:child_process'
import { expect } from 'chai'

describe('The settings of the reference application', () => {
  it('are reported in one error if production misses several', () => {
    const { AUTH_SECRET: _, APP_URL: __, MAIL_TRANSPORT: ___, ...inherited } = process.env
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', '--conditions=source', 'examples/notes/config/settings.ts'],
      { env: { ...inherited, NODE_ENV: 'production' }, encoding: 'utf8' },
    )
    expect(status).to.equal(1)
    for (const name of ['AUTH_SECRET', 'APP_URL', 'MAIL_TRANSPORT'])
      expect(stderr).to.contain(`${name} is not set`)
  })
})
