import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { ROOT } from '../architecture/tree.ts'
import { skipSuite } from '../support/servers.ts'
import { absent, RUNTIMES, runScript, scriptFor, type RunningScript } from './runtimes.ts'

const SCRIPT = join(ROOT, 'test/fixtures/runtimes/served-app.ts')

for (const runtime of RUNTIMES)
  for (const entry of ['listen', 'koa'])
    describe(`An application on ${runtime.name} through ${entry === 'listen' ? 'listen()' : 'a Koa of its own'}`, function () {
      if (runtime.program === undefined) skipSuite(absent(runtime))
      let script: RunningScript | undefined
      let url: string

      // One process for all tests that do not end it, as a start takes seconds.
      beforeEach(async () => {
        if (isRunning(script)) return
        script = runScript(runtime, [await scriptFor(runtime, SCRIPT), entry], { cwd: ROOT })
        await script.output.until(/listens at \S+/)
        url = /listens at (\S+)/.exec(script.output.text())![1]!
      })
      after(() => script?.stop('SIGKILL'))

      const post = (path: string, body: NonNullable<RequestInit['body']>, type?: string) =>
        fetch(url + path, { method: 'POST', body, ...(type && { headers: { 'content-type': type } }) })

      /** Asks until the counters of the application have these values; the time limit of the test ends it otherwise. */
      async function untilHanging(expected: Readonly<Record<string, number>>): Promise<void> {
        const counters = (await (await fetch(`${url}/hanging`)).json()) as Record<string, number>
        if (Object.entries(expected).every(([name, value]) => counters[name] === value)) return
        await wait(20)
        await untilHanging(expected)
      }

      it('reads JSON, and rejects a malformed, invalid or too large body and other types', async () => {
        const json = (body: string) => post('/echo', body, 'application/json')
        expect(await (await json('{"text":"hi"}')).json()).to.deep.equal({ text: 'hi' })
        const statuses = await Promise.all(
          [
            json('{'),
            json('{}'),
            json(`{"text":"${'x'.repeat(200_000)}"}`),
            post('/echo', 'a=b', 'application/x-other'),
          ].map(async (response) => (await response).status),
        )
        expect(statuses).to.deep.equal([400, 422, 413, 415])
        expect((await json('{"text":"still here"}')).status).to.equal(200)
      })

      it('cuts a body without a length at the limit', async () => {
        const status = await new Promise((resolve, reject) => {
          const outgoing = request(`${url}/echo`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
          })
          outgoing.on('response', (response) => resolve(response.resume().statusCode))
          outgoing.on('error', reject)
          for (let sent = 0; sent < 160; sent++) outgoing.write(' '.repeat(1024))
          outgoing.end('{}')
        })
        expect(status).to.equal(413)
      })

      it('takes an upload, and refuses a file that is too large', async () => {
        const send = (bytes: number) => {
          const form = new FormData()
          form.set('photo', new Blob(['x'.repeat(bytes)]), 'photo.txt')
          return post('/upload', form)
        }
        expect(await (await send(5000)).json()).to.deep.equal({ name: 'photo.txt', size: 5000 })
        expect((await send(70_000)).status).to.equal(413)
      })

      it('sends streams, iterables and web responses', async () => {
        for (const path of ['/stream', '/iterable'])
          expect(await (await fetch(url + path)).text(), path).to.equal('0\n1\n2\n3\n4\n')
        const web = await fetch(`${url}/web`)
        expect([web.status, web.headers.get('x-from'), await web.text()]).to.deep.equal([
          203,
          'web',
          'from the web',
        ])
      })

      it('answers an error, an unknown path and another method with problem documents', async () => {
        for (const [path, method, status] of [
          ['/throws', 'GET', 500],
          ['/nowhere', 'GET', 404],
          ['/slow', 'DELETE', 405],
        ] as const) {
          const response = await fetch(url + path, { method })
          expect(response.status, path).to.equal(status)
          expect(response.headers.get('content-type'), path).to.contain('application/problem+json')
        }
      })

      it('aborts ctx.signal when the client leaves', async () => {
        const leave = new AbortController()
        const left = fetch(`${url}/hang`, { signal: leave.signal }).catch((error: Error) => error.name)
        await untilHanging({ begun: 1 })
        leave.abort()
        expect(await left).to.equal('AbortError')
        await untilHanging({ aborted: 1 })
      })

      it('finishes running requests after SIGTERM, rejects new ones, and exits with 0', async () => {
        const slow = fetch(`${url}/slow`, { headers: { connection: 'close' } })
        await untilHanging({ slow: 1 })
        const exit = script!.stop()
        // Until the signal is handled, requests are served.
        const isServed = async (): Promise<boolean> =>
          fetch(`${url}/hanging`, { headers: { connection: 'close' } }).then(
            () => true,
            () => false,
          )
        while (await isServed()) await wait(20)
        const response = await slow
        expect([response.status, await response.text()]).to.deep.equal([200, 'slow'])
        expect(await exit, script!.output.text()).to.equal(0)
      })
    })

function isRunning(script: RunningScript | undefined): boolean {
  return script !== undefined && script.child.exitCode === null && script.child.signalCode === null
}
