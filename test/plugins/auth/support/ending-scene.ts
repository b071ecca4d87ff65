import { account } from '@mortar/auth/account'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import { emailVerification } from '@mortar/auth/email-verification'
import { notices } from '@mortar/auth/notices'
import { recent } from '@mortar/auth/recent'
import { sessions } from '@mortar/auth/sessions'
import { totp } from '@mortar/auth/totp'
import { accountCommands } from '../../../../plugins/auth/commands.ts'
import type { AccountMail } from '../../../../plugins/auth/features/mails.ts'
import type { AuthFlows } from '../../../../plugins/auth/flows/flows.ts'
import type { Client } from './client.ts'
import { Schedule } from './schedule.ts'
import { claimsOf, codeOf } from './second-factor.ts'
import { PASSWORD, resetTokenFor, settle, type World, type WorldOptions } from './world.ts'

export const NEXT = 'another horse battery'
const CALLER = { id: 'request', ip: '192.0.2.1', set: () => {} }
const ANOTHER_BROWSER = { ...CALLER, get: () => 'Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0' }
/** Sessions that a user may have. */
const MOST = 3

/** The flows of a process. */
export const flowsOf = ({ app }: World): AuthFlows =>
  (app.services as { authProvider: ConnectedPasswordProvider }).authProvider.flows

/** Options of the processes of a scene, with every feature that ends sessions. */
export function withEndings(): WorldOptions & { readonly mails: AccountMail[] } {
  const mails: AccountMail[] = []
  const features = [recent(), sessions(), notices(), emailVerification(), totp(), account()]
  const auth = {
    maxSessions: MOST,
    features,
    sendMail: (mail: AccountMail) => mails.push(mail),
    appUrl: 'https://notes.example.com',
  }
  return { file: true, withFeatures: true, auth, mails }
}

/** A user with a session, a stolen refresh token of it and a link to reset the password. */
export interface Victim {
  readonly id: string
  readonly email: string
  readonly sessionId: string
  readonly accessToken: string
  refreshToken: string
  readonly oldRefreshToken: string
  readonly resetToken: string
}

/** One process and the browser of a victim. */
interface Act {
  readonly flows: AuthFlows
  readonly world: World
  readonly client: Client
  readonly logIn: (caller: typeof CALLER) => Promise<unknown>
  /** The token of the last link of this kind. */
  readonly linkOf: (kind: AccountMail['kind']) => string
}

/** Ends sessions of a victim. `prepare` runs before, outside the schedule. */
interface Way {
  readonly prepare?: (act: Act, victim: Victim) => Promise<unknown>
  readonly run: (act: Act, victim: Victim, prepared: unknown) => Promise<unknown>
}

const COMMANDS = accountCommands('basic')
const command =
  (name: string, values: (victim: Victim) => Record<string, string | boolean> = () => ({})): Way['run'] =>
  ({ world }, victim) =>
    COMMANDS[name]!.run({ positionals: [victim.id], values: values(victim) }, world.app.services)

/** Everything that ends sessions, in one process. */
export const WAYS: Readonly<Record<string, Way>> = {
  'a new password': {
    run: ({ flows }, { id: userId, sessionId }) =>
      flows.changePassword({ current: PASSWORD, next: NEXT }, { userId, sessionId }, CALLER),
  },
  'a reset by mail': {
    run: ({ flows }, { resetToken: token }) => flows.resetPassword({ token, password: NEXT }, CALLER),
  },
  'a disabled account': { run: command('disable') },
  'an account disabled and enabled': {
    run: async ({ flows }, { id }) => {
      await flows.disable(id)
      await flows.enable(id)
    },
  },
  'the end of every session by an operator': { run: command('sign-out') },
  'the end of one session by an operator': {
    run: command('sign-out', ({ sessionId: session }) => ({ session })),
  },
  'a deleted account': { run: command('delete', () => ({ yes: true })) },
  'a logout': {
    run: ({ flows }, { refreshToken }) => flows.logOut({ refreshToken, accessToken: null }, CALLER),
  },
  'a stolen refresh token': {
    run: ({ flows }, { oldRefreshToken }) => flows.refresh(oldRefreshToken, CALLER),
  },
  'the end of every other session': { run: ({ client }) => client.delete('/auth/sessions') },
  'the end of the own session': {
    run: ({ client }, { sessionId }) => client.delete(`/auth/sessions/${sessionId}`),
  },
  'a new proof': { run: ({ client }) => client.post('/auth/confirm', { password: PASSWORD }) },
  'a closed account': { run: ({ client }) => client.delete('/auth/account') },
  'a notice that was denied': {
    prepare: async ({ logIn, world, linkOf }) => {
      await logIn(ANOTHER_BROWSER)
      await settle(world)
      return linkOf('new-browser')
    },
    run: ({ client }, _victim, token) => client.post('/auth/not-me', { token }),
  },
  'another address': {
    prepare: async ({ client, world, linkOf }, { email }) => {
      await client.post('/auth/change-email', { email: `new-${email}` })
      await settle(world)
      return linkOf('change-email')
    },
    run: ({ client }, _victim, token) => client.post('/auth/verify-email', { token, password: PASSWORD }),
  },
  'a second factor': {
    prepare: async ({ flows, client, linkOf }, victim) => {
      await client.post('/auth/verify-email', { token: linkOf('verify-email') })
      const renewed = await flows.refresh(victim.refreshToken, CALLER)
      // The former one is worth something for the grace time alone, which a slow machine may exceed.
      victim.refreshToken = renewed.refreshToken
      client.accessToken = renewed.accessToken
      return (await client.post('/auth/totp')).body.secret
    },
    run: ({ client, world }, _victim, secret) =>
      client.post('/auth/totp/confirm', { code: codeOf(world, String(secret)) }),
  },
}

let count = 0

/** Several processes on one storage, whose statements run in the order that a test chooses. */
export class EndingScene {
  readonly schedule = new Schedule()
  /** Every access token that was issued, by its session. */
  readonly tokens = new Map<string, string>()
  private readonly worlds: readonly World[]
  private readonly mails: readonly AccountMail[]

  private constructor(worlds: readonly World[], mails: readonly AccountMail[]) {
    this.worlds = worlds
    this.mails = mails
    for (const { storage } of worlds) storage.interruptions.gate = this.schedule.pass
  }

  static async of(worlds: readonly World[], mails: readonly AccountMail[]): Promise<EndingScene> {
    // The first login of a process begins its hourly clean-up, which belongs to no flow of a test.
    for (const world of worlds) {
      const email = `first${++count}@example.com`
      await flowsOf(world).signUp({ name: 'Ada', email, password: PASSWORD }, CALLER, null)
      await settle(world)
    }
    return new EndingScene(worlds, mails)
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
    const oldRefreshToken = first.refreshToken
    return { id: user.id, email, sessionId, accessToken, refreshToken, oldRefreshToken, resetToken }
  }

  /** Prepares a way of `WAYS` in the nth process. @returns a function that starts it. */
  async prepare(process: number, way: string, victim: Victim) {
    const { prepare, run } = WAYS[way]!
    const act = this.actOf(this.worlds[process]!, victim)
    const prepared = await prepare?.(act, victim)
    return () => this.schedule.start(() => this.collect(run(act, victim, prepared)))
  }

  private actOf(world: World, { email, accessToken }: Victim): Act {
    const client = world.client()
    client.accessToken = accessToken
    const logIn = (caller: typeof CALLER) =>
      this.collect(flowsOf(world).logIn({ email, password: PASSWORD }, caller, null))
    const linkOf = (kind: AccountMail['kind']) => {
      const isSearched = (mail: AccountMail) => mail.kind === kind && mail.to.endsWith(email)
      return this.mails.findLast(isSearched)!.link!.split('#token=')[1]!
    }
    return { flows: flowsOf(world), world, client, logIn, linkOf }
  }

  /** Starts a login with the first password in the nth process. */
  logIn(process: number, { email }: Victim) {
    const input = { email, password: PASSWORD }
    return this.schedule.start(() => this.collect(flowsOf(this.worlds[process]!).logIn(input, CALLER, null)))
  }

  private async collect(work: Promise<unknown>): Promise<unknown> {
    const result = (await work) as { accessToken?: string; body?: { accessToken?: string } } | undefined
    const accessToken = result?.accessToken ?? result?.body?.accessToken
    if (accessToken !== undefined) this.tokens.set(String(claimsOf(accessToken)['sid']), accessToken)
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
    const published = new Set((await storage.rows('auth_ended_sessions')).map(({ id }) => id))
    const alive = (await storage.sessions()).filter((session) => {
      const user = users.get(session.user_id)
      if (user === undefined || user.disabled_at !== null) return false
      if (user.password_version === session.password_version) return true
      // Another change of the account that came too late may have published the end of the kept session.
      return user.kept_session_id === session.id && !published.has(session.id)
    })
    return new Set(alive.map(({ id }) => String(id)))
  }

  /** Sessions whose access token a process judges otherwise than the storage. */
  async misjudgedBy(world: World, judged: Iterable<string> = this.tokens.keys()): Promise<string[]> {
    const alive = await this.alive()
    const wrong: string[] = []
    for (const id of judged) {
      const client = world.client()
      client.accessToken = this.tokens.get(id)
      const { status } = await client.get('/private')
      if (status !== (alive.has(id) ? 200 : 401)) wrong.push(`${id}: ${status}`)
    }
    return wrong
  }
}
