import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { bundleScript } from '../../support/bundle-script.ts'

const PROCESS = fileURLToPath(new URL('./open-socket-process.ts', import.meta.url))

describe('An open socket', () => {
  for (const how of ['untraced', 'traced', 'logged'])
    it(`keeps what its handler can read, and neither request nor response of Node: ${how}`, async () => {
      const { stdout, stderr } = spawnSync(process.execPath, [await bundleScript(PROCESS), how], {
        encoding: 'utf8',
      })
      expect(JSON.parse(stdout), stderr).to.deep.equal([
        [null, null],
        { set: 'The response is sent, and the connection has another protocol.' },
        {
          own: ['mine', 'mine', null, null],
          ip: '127.0.0.1',
          cookie: 'salt',
          koa: ['/room', 'mine'],
          aborted: false,
        },
      ])
    })
})
