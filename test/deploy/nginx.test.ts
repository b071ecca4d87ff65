import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { expect } from 'chai'
import { expectLeave, expectNoForgery, type ProxiedApp, startProxied } from './behind-proxy.ts'
import { needsProgram, readDeployFile } from './files.ts'
import { type RunningProxy, startProxyServer } from './running-proxy.ts'
import { surroundSite } from './surround-site.ts'

describe('deploy/nginx.conf', () => {
  needsProgram('nginx')
  const site = readDeployFile('nginx.conf')
  let one: ProxiedApp
  let two: ProxiedApp
  let proxy: RunningProxy

  before(async () => {
    one = await startProxied('one')
    two = await startProxied('two')
    proxy = await startProxyServer(({ directory, port }) => {
      const own = site
        .replace('listen 80;', `listen 127.0.0.1:${port};`)
        .replace('127.0.0.1:3001', `127.0.0.1:${one.port}`)
        .replace('127.0.0.1:3002', `127.0.0.1:${two.port}`)
      const file = join(directory, 'nginx.conf')
      writeFileSync(file, surroundSite(directory, own))
      const { status, stderr } = spawnSync('nginx', ['-t', '-c', file], { encoding: 'utf8' })
      expect(status, stderr).to.equal(0)
      return ['nginx', '-c', file]
    })
  })

  after(async () => {
    await proxy?.stop()
    await one?.app.close()
    await two?.app.close()
  })

  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(proxy.url + path, { headers })
  const post = (body: unknown): Promise<Response> =>
    fetch(`${proxy.url}/sum`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  it('passes the address of the client on, and not one that the client invents', async () => {
    const req = request(`${proxy.url}/who`, {
      localAddress: '127.0.0.2',
      headers: { 'x-forwarded-for': '203.0.113.9' },
    })
    req.end()
    const [res] = (await once(req, 'response')) as [IncomingMessage]
    expect(await json(res)).to.deep.include({ ip: '127.0.0.2', forwarded: '203.0.113.9, 127.0.0.2' })
  })

  it('lets no client choose the host or the scheme, or reach the probes in another spelling', () =>
    expectNoForgery(Number(new URL(proxy.url).port), ['http://notes.example.com']))

  it('reuses its connections to both processes', async () => {
    const before = one.connections() + two.connections()
    const names = new Set<string>()
    for (let i = 0; i < 40; i++) names.add(((await (await get('/who')).json()) as { name: string }).name)
    expect([...names].toSorted()).to.deep.equal(['one', 'two'])
    expect(one.connections() + two.connections() - before).to.be.lessThan(20)
  })

  it('leaves the response to a large body to the application', async () => {
    const response = await post({ a: 'x'.repeat(3_000_000) })
    expect(response.status).to.equal(413)
    expect(response.headers.get('content-type')).to.include('application/problem+json')
  })

  it('hides the probes', async () => {
    for (const path of ['/livez', '/readyz']) {
      const response = await get(path)
      expect(response.status).to.equal(404)
      expect(response.headers.get('content-type')).to.equal('text/html')
    }
  })

  it('forwards each event of a stream as soon as it is sent', async () => {
    const leave = new AbortController()
    const response = await fetch(`${proxy.url}/events`, { signal: leave.signal })
    const reader = response.body!.getReader()
    for (const expected of ['first', 'second']) {
      const { value } = await reader.read()
      expect(Buffer.from(value).toString()).to.equal(`data: ${expected}\n\n`)
    }
    leave.abort()
  })

  it('closes an idle connection before a process that drains does', () => {
    const drainDelay = 5
    expect(Number(/keepalive_timeout (\d+)s;/.exec(site)![1])).to.be.lessThan(drainDelay)
  })

  it('tells the application that a client has left', () => expectLeave(proxy.url, [one, two]))

  it('loses no request, GET or POST, when a process ends', async () => {
    const statuses: number[] = []
    const send = async (): Promise<void> => {
      for (let i = 0; i < 30; i++) statuses.push((await (i % 2 === 0 ? get('/who') : post({ a: i }))).status)
    }
    const slow = get('/slow')
    const clients = [send(), send(), send()]
    const closed = one.app.close()
    await Promise.all([...clients, closed])
    statuses.push((await slow).status)
    expect(statuses).to.have.length(91)
    expect(new Set(statuses)).to.deep.equal(new Set([200]))
  })
})
