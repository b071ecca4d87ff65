import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { bundleScript } from '../../support/bundle-script.ts'
import { freePort } from '../../support/free-port.ts'

const SCRIPT = new URL('../../fixtures/metrics/workers.ts', import.meta.url).pathname
const COUNT = 2
const REQUESTS = 40

describe('metrics() in several workers', function withProcesses() {
  let primary: ChildProcess
  let port: number

  beforeEach(async () => {
    port = await freePort()
    const env = { ...process.env, FRAMEWORK_VERSION: '1.2' }
    primary = fork(await bundleScript(SCRIPT), [String(port), String(COUNT)], { execArgv: [], env })
    await once(primary, 'message')
  })
  afterEach(async () => {
    const ended = once(primary, 'exit')
    primary.disconnect()
    await ended
  })

  /** Each request has a connection of its own, so that all workers get some. */
  const request = async (path: string): Promise<string> => {
    const headers = { authorization: 'Bearer a-token-of-the-tests' }
    const sent = get({ host: '127.0.0.1', port, path, headers, agent: false })
    const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream]
    return text(response)
  }

  const countOf = (shown: string): number =>
    Number(/_count\{method="GET",route="\/notes\/:id",status="200"\} (\d+)/.exec(shown)?.[1] ?? 0)

  it('show the sum over all workers, whichever worker responds', async () => {
    const pids = new Set<string>()
    for (let id = 0; id < REQUESTS; id++) pids.add(await request(`/notes/${id}`))
    expect(pids.size).equal(COUNT)
    let shown = await request('/metrics')
    while (countOf(shown) < REQUESTS) shown = await request('/metrics')
    for (let scrape = 0; scrape < 2 * COUNT; scrape++)
      expect(countOf(await request('/metrics'))).equal(REQUESTS)
    expect(shown).contain(`\nworkers_alive ${COUNT}\n`).contain('\nworker_most 1\n')
    expect(shown).contain('\nmortar_build_info{version="1.2"} 1\n')
  })

  const change = async (how: 'kill' | 'replace', number: number): Promise<void> => {
    const changed = once(primary, 'message')
    primary.send([how, number])
    await changed
  }

  it('keep the sums of workers that were replaced, with what they served after the last scrape', async () => {
    for (let id = 0; id < REQUESTS; id++) await request(`/notes/${id}`)
    for (let round = 0; round < 2; round++)
      for (let number = 1; number <= COUNT; number++) await change('replace', number)
    for (let scrape = 0; scrape < 2 * COUNT; scrape++) {
      const shown = await request('/metrics')
      expect(countOf(shown)).equal(REQUESTS)
      expect(shown).contain(`\nworkers_alive ${COUNT}\n`).contain('\nworker_most 1\n')
    }
  })

  it('keep the sums that a worker had at the last scrape before it crashed', async () => {
    for (let id = 0; id < REQUESTS; id++) await request(`/notes/${id}`)
    while (countOf(await request('/metrics')) < REQUESTS);
    await change('kill', COUNT)
    let shown = ''
    while (!shown.includes('\nworkers_alive 1\n')) shown = await request('/metrics').catch(() => '')
    expect(countOf(shown)).equal(REQUESTS)
  })
})
