import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { bundleScript } from '../support/bundle-script.ts'
import { skipSuite } from '../support/servers.ts'

const BEGINS = /^mortar: The log cannot be written \((\w+)\)\. Lines are dropped until it can be written\.$/
const ENDS = /^mortar: The log can be written again\. Dropped lines: (\d+)\.$/

describe('A log that cannot be written', function () {
  if (process.platform !== 'linux') skipSuite('The test writes to /dev/full.')

  const started: ChildProcess[] = []
  after(() => {
    for (const child of started) child.kill('SIGKILL')
  })

  /** Starts an application whose log goes to a file or to a pipe. */
  async function serve(stdout: number | 'pipe', stderr: number | 'pipe' = 'pipe') {
    const script = await bundleScript(join(import.meta.dirname, '../fixtures/log/serving.ts'))
    const child = spawn(process.execPath, [script], {
      stdio: ['ignore', stdout, stderr, 'ipc'],
      env: { ...process.env, NODE_ENV: 'production', DRAIN_DELAY: '0', LOG_LEVEL: undefined },
    })
    started.push(child)
    const [url] = (await once(child, 'message')) as [string]
    let errors = ''
    child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
    return { child, url, ended, errors: () => errors.split('\n').slice(0, -1) }
  }

  /** Sends requests whose log lines have about 12 kB together. */
  async function request(url: string, from: number, count: number): Promise<void> {
    for (let id = from; id < from + count; id++) {
      const response = await fetch(`${url}/notes/${id}-${'a'.repeat(4000)}`)
      expect(response.status).to.equal(200)
      await response.text()
    }
  }

  /** Reads the gauge of dropped lines. */
  const droppedIn = async (url: string): Promise<number> =>
    Number(await (await fetch(`${url}/dropped`)).text())

  for (const [name, both] of [
    ['', false],
    [', which has the errors too', true],
  ] as const)
    it(`ends no process and no request: a full disk${name}`, async () => {
      const full = openSync('/dev/full', 'w')
      const { child, url, ended, errors } = await serve(full, both ? full : 'pipe')
      closeSync(full)
      await request(url, 0, 300)
      expect(await droppedIn(url)).to.be.greaterThan(0)
      child.kill('SIGTERM')
      expect(await ended).to.equal(0)
      expect(errors().map((line) => BEGINS.exec(line)?.[1])).to.deep.equal(both ? [] : ['ENOSPC'])
    })

  it('is kept in bounded memory while its reader stops, and continues in order', async () => {
    const { child, url, ended, errors } = await serve('pipe')
    await request(url, 0, 500)
    const [begin, ...others] = errors()
    expect([BEGINS.exec(begin!)?.[1], others]).to.deep.equal(['EAGAIN', []])

    const log = text(child.stdout!)
    while (errors().length < 2) await once(child.stderr!, 'data')
    const dropped = Number(ENDS.exec(errors()[1]!)?.[1])
    expect(await droppedIn(url)).to.equal(dropped)
    await request(url, 500, 1)
    child.kill('SIGTERM')
    expect(await ended).to.equal(0)
    const ids = (await log)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { id?: string; msg: string })
      .map(({ id, msg }) => id ?? msg.replace('GET /notes/', ''))
      .map((id) => Number.parseInt(id, 10))
      .filter((id) => !Number.isNaN(id))
    expect(ids.length + dropped).to.equal(2 * 501)
    expect(ids.at(-1)).to.equal(500)
    expect(ids).to.deep.equal(ids.toSorted((one, other) => one - other))
    // 1 MiB in the process and what the pipe contains, of 6 MB.
    expect(ids.length).to.be.below(501)
  })
  it('is reported each time, with the lines of that time', async () => {
    const { child, url, ended, errors } = await serve('pipe')
    for (const time of [1, 2]) {
      const before = await droppedIn(url)
      child.stdout!.pause()
      await request(url, 0, 500)
      child.stdout!.resume()
      while (errors().length < 2 * time) await once(child.stderr!, 'data')
      expect(errors().at(-2)).to.match(BEGINS)
      expect(Number(ENDS.exec(errors().at(-1)!)?.[1])).to.equal((await droppedIn(url)) - before)
    }
    child.kill('SIGTERM')
    expect(await ended).to.equal(0)
  })

  it('reaches a late reader complete, with the error that ends the process', async () => {
    const { child, url, ended, errors } = await serve('pipe')
    await request(url, 0, 70)
    await (await fetch(`${url}/throw`)).text()
    const log = await text(child.stdout!)
    expect(await ended).to.equal(1)
    expect(log.match(/"msg":"Seen"/g)).to.have.length(70)
    expect(log.match(/"event":"request.completed"/g)).to.have.length(71)
    expect(log.match(/"event":"process.uncaught"/g)).to.have.length(1)
    expect(errors()).to.deep.equal([])
  })
})
