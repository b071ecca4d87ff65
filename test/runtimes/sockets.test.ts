import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import { ROOT } from '../architecture/tree.ts'
import { HELLO, HOSTILE } from '../plugins/realtime/hostile-frames.ts'
import { handshake, openRaw } from '../plugins/realtime/raw-socket.ts'
import { as } from '../support/session-brick.ts'
import { skipSuite } from '../support/servers.ts'
import { absent, RUNTIMES, runScript, scriptFor, type RunningScript } from './runtimes.ts'

const SCRIPT = join(ROOT, 'test/fixtures/runtimes/served-sockets.ts')

for (const runtime of RUNTIMES)
  for (const entry of ['listen', 'koa'])
    describe(`Sockets on ${runtime.name} through ${entry === 'listen' ? 'listen()' : 'a Koa of its own'}`, function () {
      if (runtime.program === undefined) skipSuite(absent(runtime))
      let script: RunningScript
      let url: string

      before(async () => {
        script = runScript(runtime, [await scriptFor(runtime, SCRIPT), entry], { cwd: ROOT })
        await script.output.until(/listens at \S+/)
        url = /listens at (\S+)/.exec(script.output.text())![1]!
      })
      after(() => script.stop('SIGKILL'))

      const watched = async () =>
        ((await (await fetch(`${url}/watched`)).json()) as { watched: number }).watched

      async function open(): Promise<WebSocket> {
        const socket = new WebSocket(`${url.replace('http', 'ws')}/echo`, { headers: as('ada') })
        await once(socket, 'open')
        return socket
      }
      const closed = async (socket: WebSocket) => {
        const [code, reason] = await once(socket, 'close')
        return [code, String(reason)]
      }

      it('refuse a handshake with an ordinary response', async () => {
        const refused: readonly (readonly [status: number, headers: Record<string, string>])[] = [
          [401, {}],
          [403, { cookie: 'token=ada', origin: 'https://evil.example' }],
          [426, { ...as('ada'), 'Sec-WebSocket-Version': '8' }],
          [400, { ...as('ada'), 'Sec-WebSocket-Key': 'short' }],
        ]
        for (const [status, headers] of refused) {
          const raw = openRaw(url, handshake('/echo', headers))
          await raw.ended
          expect(raw.text()).to.match(new RegExp(`^HTTP/1\\.1 ${status} [^]*problem\\+json`))
        }
        expect((await fetch(`${url}/echo`)).status).to.equal(426)
      })

      it('carry messages, and end when the client closes them', async () => {
        const socket = await open()
        for (const text of ['hello', 'x'.repeat(60_000)]) {
          socket.send(JSON.stringify({ text }))
          expect(JSON.parse(String((await once(socket, 'message'))[0]))).to.deep.equal({
            text: text.toUpperCase(),
          })
        }
        socket.close(1000)
        expect(await closed(socket)).to.deep.equal([1000, ''])
      })

      it('end with their session, as event streams do, and are not watched any longer', async () => {
        const socket = await open()
        const events = await fetch(`${url}/events`, { headers: as('ada') })
        expect(await watched()).to.equal(2)
        const ends = Promise.all([closed(socket), events.text()])
        await fetch(`${url}/end`, { method: 'POST' })
        const [end, text] = await ends
        expect(end).to.deep.equal([4401, 'session_ended'])
        expect(text).to.match(/^(?:data: tick\n\n)+$/)
        while ((await watched()) > 0) await wait(20)
      })

      // The `ws` of Bun has no bound of fragments; that of the size of a message remains.
      const bounded = ([name]: [string, unknown]) =>
        runtime.name !== 'Bun' || !name.startsWith('more fragments')
      for (const [name, [frames, code]] of Object.entries(HOSTILE).filter(bounded))
        it(`end on ${name}`, async () => {
          const hostile = openRaw(url, handshake('/echo', as('ada')))
          await hostile.until('\r\n\r\n')
          for (const each of frames) hostile.socket.write(each)
          expect(await hostile.ended).to.equal(code)
        })

      it('end with 1013 when their client does not read', async () => {
        const slow = openRaw(url, handshake('/flood', as('ada')))
        await slow.until('\r\n\r\n')
        slow.socket.pause()
        await script.output.until(/^\/flood closed with 1013$/m)
        slow.socket.destroy()
      })

      it('end with 1001 after SIGTERM, and the process exits with 0', async () => {
        const socket = await open()
        socket.send(HELLO)
        await once(socket, 'message')
        const end = closed(socket)
        const exit = await script.stop()
        expect(await end).to.deep.equal([1001, 'closing'])
        expect(exit, script.output.text()).to.equal(0)
      })
    })
