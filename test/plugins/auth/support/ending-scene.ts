import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import type { AuthFlows } from '../../../../plugins/auth/flows/flows.ts'
import { Schedule } from './schedule.ts'
import { PASSWORD, resetTokenFor, settle, type World } from './world.ts'

export const NEXT = 'another horse battery'
const CALLER = { id: 'request', ip: '192.0.2.1', set: () => {} }

/** The flows of a process. */
export const flowsOf = ({ app }: World): AuthFlows =>
  (app.services as { authProvider: ConnectedPasswordProvider }).authProvider.flows

/** A user with a session, a stolen refresh token of it and a link to reset the password. */
export interface Victim {
  readonly id: string
  readonly email: string
  readonly sessionId: string
  readonly refreshToken: string
  readonly oldRefreshToken: string
  readonly resetToken: string
}

/** Everything that ends sessions, through the flows of one process. */
export const WAYS: Readonly<Record<string, (flows: AuthFlows, victim: Victim) => Promise<unknown>>> = {
  'a new password': (flows, { id: userId, sessionId }) =>
    flows.changePassword({ current: PASSWORD, next: NEXT }, { userId, sessionId }, CALLER),
  'a reset by mail': (flows, { resetToken: token }) => flows.resetPassword({ token, password: NEXT }, CALLER),
  'a disabled account': (flows, { id }) => flows.disable(id),
  'an account disabled and enabled': async (flows, { id }) => {
    await flows.disable(id)
    await flows.enable(id)
  },
  signOut: (flows, { id }) => flows.signOut(id),
  'a logout': (flows, { refreshToken }) => flows.logOut({ refreshToken, accessToken: null }, CALLER),
  'a stolen refresh token': (flows, { oldRefreshToken }) => flows.refresh(oldRefreshToken, CALLER),
}

let count = 0

/** Several processes on one storage, whose statements run in the order that a test chooses. */
export class EndingScene {
  readonly schedule = new Schedule()
  /** Every access token that was issued, by its session. */
  readonly tokens = new Map<string, string>()
  private readonly worlds: readonly World[]

  private constructor(worlds: readonly World[]) {
    this.worlds = worlds
    for (const { storage } of worlds) storage.interruptions.gate = this.schedule.pass
  }

  static async of(worlds: readonly World[]): Promise<EndingScene> {
    // The first login of a process begins its hourly clean-up, which belongs to no flow of a test.
    for (const world of worlds) {
      const email = `first${++count}@example.com`
      await flowsOf(world).signUp({ name: 'Ada', email, password: PASSWORD }, CALLER, null)
      await settle(world)
    }
    return new EndingScene(worlds)
  }

  async newVictim(): Promise<Victim> {
    const [world] = this.worlds as [World]
    const flows = flowsOf(world)
    const email = `victim${++count}@example.com`
    const first = await flows.signUp({ name: 'Ada', email, password: PASSWORD }, CALLER, null)
    const second = await flows.refresh(first.refreshToken, CALLER)
    const { refreshToken, sessionId, user, accessToken } = await flows.refresh(second.refreshToken, CALLER)
    this.tokens.set(sessionId, accessToken)
    const resetToken = await resetTokenFor(world, email)
    await settle(world)
    return { id: user.id, email, sessionId, refreshToken, oldRefreshToken: first.refreshToken, resetToken }
  }

  /** Starts a way of `WAYS` in the nth process. */
  end(process: number, way: string, victim: Victim) {
    return this.schedule.start(() => this.collect(WAYS[way]!(flowsOf(this.worlds[process]!), victim)))
  }

  /** Starts a login with the first password in the nth process. */
  logIn(process: number, { email }: Victim) {
    const input = { email, password: PASSWORD }
    return this.schedule.start(() => this.collect(flowsOf(this.worlds[process]!).logIn(input, CALLER, null)))
  }

  private async collect(work: Promise<unknown>): Promise<unknown> {
    const result = await work
    const { sessionId, accessToken } = (result ?? {}) as { sessionId?: string; accessToken?: string }
    if (sessionId !== undefined && accessToken !== undefined) this.tokens.set(sessionId, accessToken)
    return result
  }

  /** Releases statements in an order that `choose` picks, until nothing waits. */
  async shuffle(choose: (count: number) => number): Promise<void> {
    await this.schedule.quiet()
    for (let open = this.schedule.open(); open.length > 0; open = this.schedule.open())
      await this.schedule.release(open[choose(open.length)]!)
  }

  /** Ids of the sessions that the storage keeps alive. */
  async alive(): Promise<Set<string>> {
    const { storage } = this.worlds[0]!
    const users = new Map((await storage.users()).map((user) => [user.id, user]))
    const sessions = (await storage.sessions()).filter((session) => {
      const user = users.get(session.user_id)
      return user.disabled_at === null && user.password_version === session.password_version
    })
    return new Set(sessions.map(({ id }) => String(id)))
  }

  /** Sessions whose access token a process judges otherwise than the storage. */
  async misjudgedBy(world: World, sessions: Iterable<string> = this.tokens.keys()): Promise<string[]> {
    const alive = await this.alive()
    const wrong: string[] = []
    for (const id of sessions) {
      const client = world.client()
      client.accessToken = this.tokens.get(id)
      const { status } = await client.get('/private')
      if (status !== (alive.has(id) ? 200 : 401)) wrong.push(`${id}: ${status}`)
    }
    return wrong
  }
}
