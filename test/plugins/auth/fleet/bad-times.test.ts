import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import type { ConnectionOptions } from '@mortar/database'
import { KINDS } from '../../database/databases.ts'
import { cookieOf, type Reply } from '../acceptance/service.ts'
import { openFleet, type Fleet } from './fleet.ts'
import { startSilentProxy, type SilentProxy } from './silent-proxy.ts'

/** `TEST_ENDED_ROUNDS=500` for a longer look, which prints the delays; `TEST_SILENCE=30` for longer silence, in seconds. */
const ROUNDS = Number(process.env['TEST_ENDED_ROUNDS'] ?? 4)
/** `TEST_SIGN_OUTS=60000` for as many in a minute, with the delays of other requests. */
const SIGN_OUTS = process.env['TEST_SIGN_OUTS']
const SILENCE = Number(process.env['TEST_SILENCE'] ?? 2) * 1000
const PASSWORD = 'the password at first'
const PATIENCE = 60_000
/** Clocks of the hosts, in milliseconds from the right time. The last process reaches its database through a proxy. */
const SKEWS = [0, 60_000, -60_000, 0]
const SILENT = 3
/** A process of its own kind: it reads the session with every request. */
const FRESH = 2

for (const [name, kind] of Object.entries(KINDS))
  describe(`Ended sessions in bad times, in four processes on ${name}`, function () {
    this.timeout(180_000 + ROUNDS * 5000 + SILENCE * 3)
    const place = kind('suite')
    let fleet: Fleet
    let proxy: SilentProxy | undefined
    let number = 0
    before(async () => {
      const connection = place().options() as ConnectionOptions & { host?: string; port?: number }
      const { host, port } = connection
      if (host !== undefined) proxy = await startSilentProxy({ host, port: port! })
      fleet = await openFleet(place(), SKEWS.length, {
        each: (n) => ({
          skew: SKEWS[n]!,
          freshSession: n === FRESH,
          ...(n === SILENT &&
            proxy && {
              connection: { ...connection, host: '127.0.0.1', port: proxy.port } as ConnectionOptions,
            }),
        }),
      })
    })
    after(async () => {
      await fleet.stop()
      proxy?.close()
    })

    const newcomer = async (n = 0) => {
      const email = `bad${++number}@example.com`
      const reply = await fleet.post(n, '/auth/signup', { name: 'Ada', email, password: PASSWORD })
      expect(reply.status, reply.text).to.equal(201)
      return {
        id: reply.body.user.id as string,
        cookie: cookieOf(reply),
        bearer: { authorization: `Bearer ${reply.body.accessToken}` },
      }
    }
    type Newcomer = Awaited<ReturnType<typeof newcomer>>
    const me = (n: number, { bearer }: Newcomer): Promise<Reply> => fleet.get(n, '/auth/me', bearer)
    /** Milliseconds until a process refuses; a request that is under way then may still be accepted. */
    const delayAt = async (n: number, user: Newcomer): Promise<number> => {
      const began = performance.now()
      let accepted = 0
      for (;;) {
        const asked = performance.now() - began
        const { status } = await me(n, user)
        if (status === 401) return accepted
        if (status === 200) accepted = asked
        if (asked > PATIENCE) throw new Error(`The access token is accepted still by ${n}: ${status}.`)
        await pause(20)
      }
    }
    const session = async ({ id }: Newcomer) =>
      (await fleet.source.getRepository('auth_refresh_tokens').findOneBy({ user_id: id }))!['id'] as string

    it('are refused everywhere after each way to end them, whatever the clocks of the hosts say', async () => {
      const delays: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const [user, other] = [await newcomer(round), await newcomer(round + 1)]
        const at = round % SKEWS.length
        await [
          () => fleet.post(at, '/auth/logout', undefined, { cookie: user.cookie }),
          () => fleet.post(at, `/sign-out/${user.id}`),
          () => fleet.post(at, `/disable/${user.id}`),
          async () => {
            await fleet.post(at, `/sign-out/${user.id}`)
            await fleet.source.getRepository('auth_users').delete({ id: user.id })
          },
        ][round % 4]!()
        expect((await me(FRESH, user)).status, 'freshSession').to.equal(401)
        delays.push(...(await Promise.all(SKEWS.map((_, n) => delayAt(n, user)))))
        for (const n of SKEWS.keys()) expect((await me(n, other)).status).to.equal(200)
      }
      report(`${name}, ${ROUNDS} ends`, delays)
    })

    if (name !== 'SQLite')
      it('are found although writers keep transactions open around the records', async () => {
        const delays: number[] = []
        const isDone = { value: false }
        const writers = Array.from({ length: 8 }, (_, n) => writeSlowly(fleet.source, n, isDone))
        for (let round = 0; round < ROUNDS / 2; round++) {
          const user = await newcomer(round)
          await publishSlowly(fleet.source, await session(user), 500 + ((round * 700) % 1500))
          delays.push(...(await Promise.all([0, 1, SILENT].map((n) => delayAt(n, user)))))
        }
        isDone.value = true
        await Promise.all(writers)
        report(`${name}, ${ROUNDS / 2} slow commits`, delays)
      })

    if (name !== 'SQLite')
      it('are never accepted by a process whose network is silent, which recovers by itself', async () => {
        const [user, other] = [await newcomer(), await newcomer()]
        expect((await me(SILENT, user)).status).to.equal(200)
        proxy!.silence()
        const began = performance.now()
        expect((await fleet.post(0, '/auth/logout', undefined, { cookie: user.cookie })).status).to.equal(204)
        let [lastAccepted, refusals] = [0, 0]
        while (performance.now() - began < SILENCE || refusals === 0) {
          const asked = performance.now() - began
          const isKnown = refusals > 0
          const [ended, alive] = await Promise.all([me(SILENT, user), me(SILENT, other)])
          if (ended.status === 200) lastAccepted = asked
          expect(ended.status).to.be.oneOf([200, 503])
          expect(alive.status).to.be.oneOf([200, 503])
          if (alive.status === 503) {
            refusals += 1
            expect([alive.body.code, alive.headers['retry-after']]).to.deep.equal([
              'session_state_unknown',
              '1',
            ])
          }
          if (isKnown) expect(ended.status, 'once it cannot know').to.equal(503)
          await pause(20)
        }
        const healed = performance.now()
        proxy!.heal()
        while ((await me(SILENT, other)).status !== 200) await pause(10)
        report(`${name}, first answer after ${SILENCE} ms of silence`, [performance.now() - healed])
        report(`${name}, last acceptance in the silence`, [lastAccepted])
        expect((await me(SILENT, user)).status).to.equal(401)
      })

    /** Sends requests of living clients to each process until `isDone`. @returns their delays. */
    const serveOthers = async (isDone: { readonly value: boolean }): Promise<number[]> => {
      const delays: number[] = []
      const serve = async (_: number, n: number): Promise<void> => {
        const other = await newcomer(n)
        while (!isDone.value) {
          const began = performance.now()
          expect((await me(n, other)).status).to.equal(200)
          delays.push(performance.now() - began)
          await pause(20)
        }
      }
      await Promise.all(SKEWS.map((each, n) => serve(each, n)))
      return delays
    }

    it('may be many: no living client has to refresh, and the memory is bounded', async () => {
      const living = await newcomer()
      const count = Number(SIGN_OUTS ?? 3000)
      const isDone = { value: false }
      const others = serveOthers(isDone)
      const before = (await fleet.all<number>('/memory'))[0]!
      for (let first = 0; first < count; first += 1000) {
        const now = Date.now()
        const records = Array.from({ length: Math.min(1000, count - first) }, (_, n) => ({
          id: `many-${first + n}`,
          ended_at: now,
          expires_at: now + 900_000,
        }))
        await fleet.source.getRepository('auth_ended_sessions').insert(records)
        const answers = await Promise.all(SKEWS.map((_, n) => me(n, living)))
        expect(answers.map(({ status }) => status)).to.deep.equal(SKEWS.map(() => 200))
        if (SIGN_OUTS !== undefined) await pause(now + 1000 - Date.now())
      }
      isDone.value = true
      report(`${name}, requests of others beside ${count} ends`, await others)
      const user = await newcomer()
      await fleet.post(0, '/auth/logout', undefined, { cookie: user.cookie })
      for (const n of SKEWS.keys()) await delayAt(n, user)
      expect((await me(0, living)).status).to.equal(200)
      const after = (await fleet.all<number>('/memory'))[0]!
      report(`${name}, ${count} ends, megabytes of one process`, [(after - before) / 2 ** 20])
    })
  })

/** Prints figures of a longer look. */
function report(title: string, values: readonly number[]): void {
  if (process.env['TEST_ENDED_ROUNDS'] === undefined && SIGN_OUTS === undefined) return
  const sorted = values.toSorted((one, other) => one - other)
  const at = (part: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * part)]!)
  const late = values.filter((value) => value > 1100).length
  process.stdout.write(
    `      ${title}: p50 ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)}; ${late} of ${values.length} above 1100\n`,
  )
}

/** Ends sessions of nobody in transactions of up to two seconds. */
async function writeSlowly(
  source: DataSource,
  n: number,
  isDone: { readonly value: boolean },
): Promise<void> {
  for (let round = 0; !isDone.value; round++)
    await publishSlowly(source, `writer-${n}-${round}`, (n * 250 + round * 130) % 2000)
}

/** Publishes an end as a process does, but commits it late. */
async function publishSlowly(source: DataSource, id: string, milliseconds: number): Promise<void> {
  await source.transaction(async (manager) => {
    const now = Date.now()
    const record = { id, ended_at: now, expires_at: now + 900_000 }
    await manager.getRepository('auth_ended_sessions').insert(record)
    await pause(milliseconds)
  })
}
