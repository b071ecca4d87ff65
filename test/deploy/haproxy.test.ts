import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { expectLeave, expectNoForgery, type ProxiedApp, startProxied } from './behind-proxy.ts'
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
        // A loaded machine must not make a process look dead.
        .replace('timeout check 2s', 'timeout check 30s')
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

  it('lets no client choose the host or the scheme, or reach the probes', () =>
    expectNoForgery(Number(new URL(proxy.url).port), ['http://notes.example.com']))

  it('serves from both processes', async function () {
    const names = new Set<string>()
    while (names.size < 2) names.add(await who())
    expect([...names].toSorted()).to.deep.equal(['one', 'two'])
  })

  it('tells the application that a client has left', () => expectLeave(proxy.url, [one, two]))

  it('loses no request when a process drains and closes', async function () {
    const state = { closed: false }
    const closing = one.app.close({ drainDelay: '3s' }).then(() => (state.closed = true))
    let lastOfOne = 0
    let count = 0
    while (!state.closed) {
      count++
      if ((await who()) === 'one') lastOfOne = count
    }
    await closing
    for (let i = 0; i < 5; i++) expect(await who()).to.equal('two')
    expect(count - lastOfOne).to.be.greaterThan(0)
  })
})
