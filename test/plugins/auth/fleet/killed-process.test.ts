import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { KINDS } from '../../database/databases.ts'
import { cookieOf, type Reply } from '../acceptance/service.ts'
import { openFleet, type Fleet } from './fleet.ts'

/** `TEST_KILLS=20` for a longer look with more flows in each, and at every statement; it prints what was found. */
const KILLS = Number(process.env['TEST_KILLS'] ?? 1)
/** Flows that run in a process when it is killed. */
const CONCURRENT = process.env['TEST_KILLS'] === undefined ? 12 : 32
const PASSWORD = 'the password at first'
const NEXT = 'another horse battery'
const PATIENCE = 60_000
/** Milliseconds in which every process reads what a dead one has published. */
const UNTIL_READ = 1000

for (const [name, kind] of Object.entries(KINDS))
  describe(`A process that is killed while it ends sessions on ${name}`, function () {
    this.timeout(180_000 + KILLS * 60_000)
    const place = kind('suite')
    let fleet: Fleet
    let number = 0
    const found: Record<string, number> = {}
    const killed = new Set<number>()
    before(async () => {
      fleet = await openFleet(place(), 2)
    })
    after(() => fleet.stop())

    const newcomer = async () => {
      const email = `killed${++number}@example.com`
      const reply = await fleet.post(0, '/auth/signup', { name: 'Ada', email, password: PASSWORD })
      expect(reply.status, reply.text).to.equal(201)
      return {
        email,
        id: reply.body.user.id as string,
        cookie: cookieOf(reply),
        bearer: { authorization: `Bearer ${reply.body.accessToken}` },
        token: '',
      }
    }
    type Newcomer = Awaited<ReturnType<typeof newcomer>>
    /** The flows that end sessions, each as a request to a process. */
    const FLOWS: Readonly<Record<string, (n: number, user: Newcomer) => Promise<Reply>>> = {
      logout: (n, { cookie, bearer }) => fleet.post(n, '/auth/logout', undefined, { cookie, ...bearer }),
      'change-password': (n, { bearer, cookie }) =>
        fleet.post(n, '/auth/change-password', { current: PASSWORD, next: NEXT }, { ...bearer, cookie }),
      'reset-password': (n, { token }) => fleet.post(n, '/auth/reset-password', { token, password: NEXT }),
      signOut: (n, { id }) => fleet.post(n, `/sign-out/${id}`),
    }
    const names = Object.keys(FLOWS)
    const flowOf = (index: number): string => names[index % names.length]!
    const mails = async (): Promise<string[]> => (await fleet.get(0, '/mails')).body
    const withToken = async (user: Newcomer): Promise<Newcomer> => {
      const before = (await mails()).length
      await fleet.post(0, '/auth/forgot-password', { email: user.email })
      let tokens = await mails()
      while (tokens.length === before) tokens = await mails()
      return { ...user, token: tokens.at(-1)! }
    }
    /** Kills a process after a random number of its responses, or a few milliseconds after the requests. */
    const runAndKill = async (victim: number, users: readonly Newcomer[]): Promise<(number | null)[]> => {
      const last = Math.floor(Math.random() * CONCURRENT * 0.9)
      let answers = 0
      let death: Promise<void> | undefined
      const kill = (): void => {
        if (answers >= last) death ??= fleet.kill(victim)
      }
      const statuses = users.map(async (user, n) => {
        try {
          const { status } = await FLOWS[flowOf(n)]!(victim, user)
          answers += 1
          kill()
          return status
        } catch {
          return null
        }
      })
      await pause(Math.random() * 20)
      kill()
      const all = await Promise.all(statuses)
      await death
      killed.add(victim)
      return all
    }
    const me = async (n: number, { bearer }: Newcomer): Promise<number> =>
      (await fleet.get(n, '/auth/me', bearer)).status
    const refresh = async (n: number, { cookie }: Newcomer): Promise<Reply> =>
      fleet.post(n, '/auth/refresh', undefined, { cookie })
    const works = async (n: number, { email }: Newcomer, password: string): Promise<boolean> =>
      (await fleet.post(n, '/auth/login', { email, password })).status === 200
    /** @returns the processes that live. */
    const living = (): number[] => [...fleet.urls.keys()].filter((n) => !killed.has(n))

    /** Every process refuses the access token, as soon as it has read. */
    const untilRefused = async (user: Newcomer): Promise<void> => {
      const end = performance.now() + PATIENCE
      for (const n of living())
        for (;;) {
          const status = await me(n, user)
          if (status === 401) break
          if (performance.now() > end) throw new Error(`Process ${n} disagrees: ${status}.`)
          await pause(50)
        }
    }
    const note = (flow: string, what: string): void => {
      found[`${flow}: ${what}`] = (found[`${flow}: ${what}`] ?? 0) + 1
    }

    /**
     * Refreshes until access tokens say the same in every process. A process reads the ends of others twice a second, and
     * the last statement of a dead process may still be waiting in the database: a session can end after a refresh.
     */
    const firstRefresh = async (user: Newcomer, flow: string): Promise<Reply> => {
      const end = performance.now() + PATIENCE
      for (;;) {
        const reply = await refresh(living()[0]!, user)
        expect(reply.status, flow).to.be.oneOf([200, 401])
        const statuses = await Promise.all(living().map((n) => me(n, user)))
        if (statuses.every((status) => status === reply.status)) return reply
        if (performance.now() > end)
          throw new Error(`${flow}: ${statuses.join()} beside a refresh with ${reply.status}.`)
        await pause(50)
      }
    }

    async function check(user: Newcomer, flow: string, answer: number | null): Promise<void> {
      const [one, other] = living() as [number, number]
      const first = await firstRefresh(user, flow)
      const isEnded = first.status === 401
      note(flow, `${answer ?? 'no response'}, ${isEnded ? 'ended' : 'alive'}`)
      if (answer !== null && answer < 300) expect(isEnded, `${flow}: acknowledged`).to.equal(true)
      if (/^(change|reset)-password/.test(flow)) {
        const isNew = await works(one, user, NEXT)
        expect(await works(other, user, PASSWORD), flow).to.equal(!isNew)
        if (isNew) expect(isEnded, `${flow}: a session of the old password`).to.equal(true)
      }
      const mine = isEnded ? user : { ...user, cookie: cookieOf(first) }
      const again = await FLOWS['logout']!(other, mine)
      expect(again.status, `${flow}: logout again`).to.equal(204)
      await untilRefused(user)
      for (const n of [one, other])
        for (const each of [user, mine]) expect((await refresh(n, each)).status).to.equal(401)
    }

    it('leaves each session alive or ended in all others, and a logout afterwards ends it', async () => {
      for (let kill = 0; kill < KILLS; kill++) {
        const victim = fleet.urls.length - 1
        const next = fleet.join()
        const users: Newcomer[] = []
        for (let n = 0; n < CONCURRENT; n++) {
          const user = await newcomer()
          users.push(flowOf(n) === 'reset-password' ? await withToken(user) : user)
        }
        const statuses = await runAndKill(victim, users)
        await next
        await pause(UNTIL_READ)
        await Promise.all(users.map((user, n) => check(user, flowOf(n), statuses[n]!)))
      }
    })

    /** Kills a process before the nth statement of a flow. @returns false if the flow has fewer statements. */
    const killBefore = async (statement: number, flow: string): Promise<boolean> => {
      const victim = await fleet.join()
      const made = await newcomer()
      const user = flow === 'reset-password' ? await withToken(made) : made
      await fleet.post(victim, `/die-before/${statement}`)
      const status = await FLOWS[flow]!(victim, user).then(
        (reply) => reply.status,
        () => null,
      )
      if (status !== null) await fleet.kill(victim)
      killed.add(victim)
      await pause(UNTIL_READ)
      await check(user, `${flow}, statement ${statement}`, status)
      return status === null
    }

    for (const flow of process.env['TEST_KILLS'] === undefined ? [] : names)
      it(`does so before each statement of ${flow}`, async () => {
        let statement = 1
        while (await killBefore(statement, flow)) statement++
        expect(statement).to.be.at.least(3)
      })

    after(() => {
      if (process.env['TEST_KILLS'] !== undefined) process.stdout.write(`${name} ${JSON.stringify(found)}\n`)
    })
  })
