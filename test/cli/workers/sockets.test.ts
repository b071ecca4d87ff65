import { once } from 'node:events'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import { skipSuite } from '../../support/servers.ts'
import { builtProject, type ServingWorkers } from './serving.ts'

const APP = `import { createApp } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import * as schema from '@mortar/auth/basic/schema'
import { database } from '@mortar/database'
import { realtime } from '@mortar/realtime'
export const app = createApp()
  .use(database({ type: 'better-sqlite3', database: 'app.db', entities: [schema], synchronize: true }))
  .use(auth(basicAuth({ secret: 'a secret of the tests with enough characters' })))
  .use(realtime())
`

const ROUTE = `import { defineSocket } from '@mortar/realtime'
export default defineSocket({ auth: true }, async (_ctx, socket) => {
  socket.send({ pid: process.pid })
  for await (const _message of socket);
})
`

describe('Sockets of mortar start --workers', function () {
  if (process.platform !== 'linux') skipSuite('The test reads /proc.')
  const built = builtProject({ 'app.ts': APP, 'routes/pid.ws.ts': ROUTE })
  let serving: ServingWorkers
  let number = 0

  beforeEach(async () => {
    serving = await built.serve(['--workers', '2', '--stale'], { NODE_ENV: 'development' })
    await serving.untilEvent('worker.ready', 2)
  })

  async function post(path: string, body?: object, headers = {}) {
    const response = await fetch(`http://127.0.0.1:${serving.port}${path}`, {
      method: 'POST',
      headers: { connection: 'close', ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    expect(response.status, path).to.be.below(300)
    return response
  }

  /** A new user, with the header and the cookie of the session. */
  async function signUp() {
    const user = { name: 'Ada', email: `ada${++number}@example.com`, password: 'correct horse battery' }
    const response = await post('/auth/signup', user)
    const { accessToken } = (await response.json()) as { accessToken: string }
    return {
      authorization: `Bearer ${accessToken}`,
      cookie: response.headers.getSetCookie().join().split(';')[0]!,
    }
  }

  async function open(authorization: string) {
    const socket = new WebSocket(`ws://127.0.0.1:${serving.port}/pid`, { headers: { authorization } })
    const closed = once(socket, 'close').then(([code, reason]) => `${code} ${reason}`)
    const [data] = await once(socket, 'message')
    return { pid: (JSON.parse(String(data)) as { pid: number }).pid, closed }
  }

  /** A socket in each of these workers. */
  async function openIn(workers: readonly number[], authorization: string) {
    const found = new Map<number, Awaited<ReturnType<typeof open>>>()
    while (!workers.every((pid) => found.has(pid))) {
      const socket = await open(authorization)
      found.set(socket.pid, socket)
    }
    return workers.map((pid) => found.get(pid)!)
  }

  it('end with a session that another worker ends, and those of others go on', async () => {
    const [ada, bob] = [await signUp(), await signUp()]
    const sockets = await openIn(serving.workers(), ada.authorization)
    const other = await open(bob.authorization)
    await post('/auth/logout', undefined, { cookie: ada.cookie })
    for (const { closed } of sockets) expect(await closed).to.equal('4401 session_ended')
    const ended = serving.end('SIGTERM')
    expect(await other.closed).to.equal('1001 closing')
    expect(await ended).to.deep.equal([0, null])
  })

  it('come back in the next worker during a reload', async () => {
    const { authorization } = await signUp()
    const before = serving.workers()
    const sockets = await openIn(before, authorization)
    serving.child.kill('SIGUSR2')
    const again = sockets.map(async ({ closed }) => {
      expect(await closed).to.equal('1001 closing')
      return open(authorization)
    })
    await serving.untilEvent('reload.completed', 1)
    // One that came back in the worker that was replaced next has ended with it.
    for (const { pid, closed } of await Promise.all(again))
      if (before.includes(pid)) expect(await closed).to.equal('1001 closing')
    expect(before).not.to.include((await open(authorization)).pid)
    expect(await serving.end('SIGTERM')).to.deep.equal([0, null])
  })
})
