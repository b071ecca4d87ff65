import { mkdirSync, mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { expect } from 'chai'
import { type App, createApp, defineBrick, type Logger } from 'mortar'

const TOKEN = { Authorization: 'Bearer x' }

describe('The maintenance mode', () => {
  let folder: string
  let file: string
  let app: App
  let lines: string[]
  let asked: number
  const write = (...given: readonly unknown[]): void => void lines.push(JSON.stringify(given))
  const error = (...given: readonly unknown[]): void => write('error', ...given)
  const logger: Logger = { debug: write, info: write, warn: write, error, child: () => logger }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mortar-state-'))
    file = join(folder, 'maintenance.json')
    lines = []
    asked = 0
    process.env['FRAMEWORK_STATE'] = folder
  })
  afterEach(async () => {
    delete process.env['FRAMEWORK_STATE']
    delete process.env['FRAMEWORK_WORKER']
    mock.timers.reset()
    await app.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const state = (allow: readonly string[] = []): void =>
    writeFileSync(file, JSON.stringify({ since: '2026-01-01T00:00:00Z', retryAfter: 90, allow }))

  async function serve(trustProxy: readonly string[] = []): Promise<string> {
    const store = defineBrick({
      name: 'store',
      middleware: [
        (_ctx, next) => {
          asked += 1
          return next()
        },
      ],
    })
    app = createApp({ environment: 'production', logger, trustProxy, drainDelay: 0 }).use(store)
    app.addRoutes({
      scopes: [],
      routes: [
        {
          method: 'POST',
          path: '/notes',
          definition: {},
          handler: (ctx) => ctx.body,
          middleware: [],
          origin: 'the test',
        },
      ],
    })
    const { url } = await app.listen(0, '127.0.0.1')
    return url
  }
  const post = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}/notes`, {
      method: 'POST',
      body: '{"a":1}',
      headers: { 'Content-Type': 'application/json', ...headers },
    })

  it('is on from the first request, for every route and path, without middleware and credential', async () => {
    state()
    const url = await serve()
    for (const path of ['/notes', '/docs', '/nowhere', '/%E0%A4%A']) {
      const response = await fetch(`${url}${path}`, { headers: TOKEN })
      expect([response.status, response.headers.get('Retry-After')], path).to.deep.equal([503, '90'])
      expect(response.headers.get('Content-Type')).to.equal('application/problem+json')
      expect(await response.json()).to.include({ code: 'maintenance', title: 'Maintenance' })
    }
    expect((await post(url)).status).to.equal(503)
    expect(asked).to.equal(0)
  })

  it('leaves the probes alive', async () => {
    state()
    const url = await serve()
    expect((await fetch(`${url}/livez`)).status).to.equal(200)
    expect((await fetch(`${url}/readyz`)).status).to.equal(200)
  })

  it('begins and ends while the process runs, and logs each once', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const url = await serve()
    expect((await post(url)).status).to.equal(200)
    state()
    mock.timers.tick(2000)
    expect((await post(url)).status).to.equal(503)
    unlinkSync(file)
    mock.timers.tick(2000)
    expect((await post(url)).status).to.equal(200)
    await app.close()
    state()
    mock.timers.tick(2000)
    const events = lines.flatMap((line) => /maintenance\.\w+/.exec(line) ?? [])
    expect(events).to.deep.equal(['maintenance.on', 'maintenance.off'])
  })

  it('logs no error: an operator has switched it on', async () => {
    state()
    expect((await post(await serve())).status).to.equal(503)
    await app.close()
    expect(lines.filter((line) => line.includes('request.unavailable'))).to.have.length(1)
    expect(lines.filter((line) => line.startsWith('["error"'))).to.deep.equal([])
  })

  it('is logged by the first worker of a machine alone', async () => {
    process.env['FRAMEWORK_WORKER'] = '2'
    state()
    await serve()
    expect(lines.filter((line) => line.includes('maintenance.'))).to.deep.equal([])
  })

  it('serves allowed addresses, also behind a proxy, and no other', async () => {
    state(['203.0.113.0/24', '2001:db8::/32'])
    const url = await serve(['127.0.0.1'])
    for (const [address, status] of [
      ['203.0.113.7', 200],
      ['::ffff:203.0.113.7', 200],
      ['2001:db8::1', 200],
      ['203.0.114.7', 503],
      ['203.0.113.7, 198.51.100.1', 503],
      ['unknown', 503],
    ] as const)
      expect((await post(url, { 'X-Forwarded-For': address })).status, address).to.equal(status)
    expect((await post(url)).status).to.equal(503)
  })

  it('is on for everybody while the file has no readable content', async () => {
    for (const text of ['', '{"allow":["all"],"retryAfter":"soon"}', 'null', '{"allow":']) {
      writeFileSync(file, text)
      const response = await post(await serve())
      expect([response.status, response.headers.get('Retry-After')], text).to.deep.equal([503, '60'])
      await app.close()
    }
  })

  it('stays as it is while the file cannot be read, with one line in the log each time', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const url = await serve()
    for (const isOn of [false, true]) {
      mkdirSync(file)
      mock.timers.tick(2000)
      expect((await post(url)).status).to.equal(isOn ? 503 : 200)
      rmSync(file, { recursive: true })
      state()
      mock.timers.tick(1000)
      expect((await post(url)).status).to.equal(503)
      rmSync(file)
    }
    expect(lines.filter((line) => line.includes('cannot be read')).length).to.equal(2)
  })

  it('does not exist without a state folder', async () => {
    state()
    delete process.env['FRAMEWORK_STATE']
    expect((await post(await serve())).status).to.equal(200)
  })
})
