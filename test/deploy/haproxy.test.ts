import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { type ProxiedApp, startProxied } from './behind-proxy.ts'
import { needsProgram, readDeployFile } from './files.ts'
import { type RunningProxy, startProxyServer } from './running-proxy.ts'

describe('deploy/haproxy.cfg', () => {
  needsProgram('haproxy')
  const configuration = readDeployFile('haproxy.cfg')
  let one: ProxiedApp
  let two: ProxiedApp
  let proxy: RunningProxy

  before(async () => {
    one = await startProxied('one')
    two = await startProxied('two')
    proxy = await startProxyServer(({ directory, port }) => {
      const file = join(directory, 'haproxy.cfg')
      const own = configuration
        .replace('bind :80', `bind 127.0.0.1:${port}`)
        .replace('127.0.0.1:3001', `127.0.0.1:${one.port}`)
        .replace('127.0.0.1:3002', `127.0.0.1:${two.port}`)
        .replace(' slowstart 2s', '')
      writeFileSync(file, own)
      const { status, stdout, stderr } = spawnSync('haproxy', ['-c', '-f', file], { encoding: 'utf8' })
      expect(status, stdout + stderr).to.equal(0)
      return ['haproxy', '-db', '-f', file]
    })
  })

  after(async () => {
    await proxy?.stop()
    await one?.app.close()
    await two?.app.close()
  })

  const who = async (): Promise<string> =>
    ((await (await fetch(`${proxy.url}/who`)).json()) as { name: string }).name

  it('serves from both processes', async () => {
    const names = new Set<string>()
    for (let i = 0; i < 20; i++) names.add(await who())
    expect([...names].toSorted()).to.deep.equal(['one', 'two'])
  })

  it('sends no request to a process whose /readyz is not 200', async function () {
    this.timeout(60_000)
    one.becomeUnready()
    let row = 0
    while (row < 20) row = (await who()) === 'two' ? row + 1 : 0
    expect(await one.app.inject('/who').then((response) => response.statusCode)).to.equal(200)
  })
})
