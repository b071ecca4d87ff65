import { randomBytes } from 'node:crypto'
import type { CookieTarget, RefreshCookie } from '../../cookies/refresh-cookie.ts'
import type { Known } from '../../events/outcomes.ts'
import type { Caller, Grant, OwnSession } from '../../flows/proof.ts'
import { asOwner } from '../as-owner.ts'
import type { FeatureKit } from '../feature.ts'
import type { LinkedAccounts } from './accounts.ts'
import type { LinkedAccount } from './linked-account.ts'
import { connectProvider, ProviderFailure, type ConnectedProvider } from './openid.ts'
import type { SocialProvider } from './providers.ts'
import { refused } from '../../refusals.ts'

/** Seconds for a visit at the provider. */
const LIFETIME = 600
/** Purpose of the sealed text in the cookie of a flow. */
const PURPOSE = 'social-flow'
const COOKIE = 'mortar_social_'
/** Flows that one browser may have at a time. */
const MOST_FLOWS = 4
/** Bytes of each random value. */
const RANDOM = 32

/** Content of the cookie of a flow, between its two requests. */
interface Flow extends Omit<Start, 'cookies'> {
  readonly verifier: string
  readonly nonce: string
  readonly expiresAt: number
}

/** The beginning of a flow. */
export interface Start {
  readonly provider: string
  readonly returnTo: string
  /** Header of the request. */
  readonly cookies: string
  /** The session that asks for a link; without it the flow signs in. */
  readonly link?: OwnSession
}

/** A flow that has begun: the address of the provider's page, and the cookies for this browser. */
export interface BegunFlow {
  readonly url: string
  readonly set: (ctx: CookieTarget) => void
}

/** A flow that has ended well: where the browser goes, and the session if it has signed in. */
export interface EndedFlow {
  readonly returnTo: string
  readonly grant?: Grant
}

/** The request that comes back from a provider. */
export interface Callback {
  readonly provider: string
  /** Its query, with `?`. */
  readonly query: string
  readonly cookies: string
  /** Refresh token of the browser's previous session. */
  readonly presented: string | null
}

/** Options of the flows. */
export interface SignInRules {
  readonly providers: readonly SocialProvider[]
  readonly errorPath: string
}

/** The operations behind the routes of `social()`, of one application. */
export class SocialSignIn {
  readonly errorPath: string
  readonly #kit: FeatureKit
  readonly #accounts: LinkedAccounts
  readonly #providers: ReadonlyMap<string, OwnProvider>

  constructor(kit: FeatureKit, accounts: LinkedAccounts, { providers, errorPath }: SignInRules) {
    this.errorPath = errorPath
    this.#kit = kit
    this.#accounts = accounts
    const own = (provider: SocialProvider) => {
      const redirectUri = kit.linkTo(`/social/${provider.name}/callback`)
      return { provider, connected: connectProvider(provider, redirectUri) }
    }
    this.#providers = new Map(providers.map((provider) => [provider.name, own(provider)]))
  }

  /** @throws HttpError `unknown_provider`, `provider_unavailable`, `sign_in_failed`; LimitReached. */
  async begin({ provider, returnTo, cookies, link }: Start, caller: Caller): Promise<BegunFlow> {
    const { connected } = this.#named(provider)
    const kit = this.#kit
    const name = link === undefined ? 'social' : 'linkAccount'
    const state = random()
    const flow: Flow = {
      provider,
      verifier: random(),
      nonce: random(),
      returnTo,
      ...(link && { link }),
      expiresAt: kit.clock.now() + LIFETIME * 1000,
    }
    const attempt = { flow: name, rule: 'social', caller, known: { ...link }, counted: {} } as const
    const { href: url } = await kit.begin(attempt, () =>
      asRefusal(kit, provider, () => connected.authorize({ ...flow, state })),
    )
    const { keyId, sealed } = kit.vault.seal(PURPOSE, state, JSON.stringify(flow))
    return {
      url,
      set(ctx) {
        for (const old of superfluous(kit, cookies)) old.clear(ctx)
        kit.cookie(COOKIE + state).set(ctx, `${keyId}.${sealed}`, LIFETIME)
      },
    }
  }

  /** The cookie of the flow of a callback; null if its query names none. */
  cookieOf(query: string): RefreshCookie | null {
    const state = stateOf(query)
    return state === null ? null : this.#kit.cookie(COOKIE + state)
  }

  /** @throws HttpError for a refusal, LimitReached. */
  finish(callback: Callback, caller: Caller): Promise<EndedFlow> {
    const own = this.#named(callback.provider)
    const flow = this.#flowOf(callback)
    const known: Known = {}
    const isSignIn = flow?.link === undefined
    const attempt = { rule: 'social', caller, known, counted: {} } as const
    // A second link of the same identity changes nothing, so it has no event.
    const run = isSignIn ? this.#kit.attempt : this.#kit.begin
    return run({ ...attempt, flow: isSignIn ? 'social' : 'linkAccount' }, async () => {
      if (flow === null) throw refused('sign_in_expired')
      const { returnTo, link } = flow
      const identity = await asRefusal(this.#kit, callback.provider, () =>
        own.connected.identify(callback.query, flow),
      )
      if (link !== undefined) {
        Object.assign(known, link)
        const user = await this.#accounts.link(own.provider, identity, link)
        if (user === null) return { returnTo }
        this.#kit.events.emit('auth.account.linked', { ip: caller.ip, requestId: caller.id, ...link })
        await this.#kit.factorChanged(user, 'account-linked', caller)
        return { returnTo }
      }
      const { user, isNew, isLinked } = await this.#accounts.userOf(own.provider, identity)
      Object.assign(known, { userId: user.id, email: user.email })
      if (isLinked) await this.#kit.factorChanged(user, 'account-linked', caller)
      const grant = await this.#kit.sessions.begin(user, {
        caller,
        presented: callback.presented,
        methods: ['fed'],
        isKnownDevice: false,
        way: isNew ? 'signup' : 'login',
      })
      if (grant === null) throw refused('sign_in_refused')
      known.sessionId = grant.sessionId
      return { returnTo, grant }
    })
  }

  /** @throws Unauthorized if the session is over. */
  async list(own: OwnSession): Promise<readonly LinkedAccount[]> {
    const user = await this.#kit.sessions.owner(own)
    return this.#accounts.list(user.id)
  }

  /** @throws NotFound, Conflict `last_way_in`, Unauthorized, LimitReached. */
  unlink(id: string, own: OwnSession, caller: Caller): Promise<void> {
    return asOwner(this.#kit, { flow: 'unlinkAccount', rule: 'sessions', own, caller }, async (user) => {
      if (!(await this.#accounts.unlink(user, id))) throw refused('unknown_account')
      await this.#kit.factorChanged(user, 'account-unlinked', caller)
    })
  }

  #named(name: string): OwnProvider {
    const found = this.#providers.get(name)
    if (found === undefined) throw refused('unknown_provider')
    return found
  }

  /** Returns the flow of a callback, if this browser has begun it at this provider. */
  #flowOf({ provider, query, cookies }: Callback): (Flow & { readonly state: string }) | null {
    const state = stateOf(query)
    const value = this.cookieOf(query)?.read({ cookie: cookies }) ?? null
    if (state === null || value === null) return null
    const [keyId = '', sealed = ''] = value.split('.')
    const text = this.#kit.vault.open(PURPOSE, state, { keyId, sealed })
    const flow = text === null ? null : (JSON.parse(text) as Flow)
    const isCurrent = flow?.provider === provider && flow.expiresAt > this.#kit.clock.now()
    return isCurrent ? { ...flow, state } : null
  }
}

interface OwnProvider {
  readonly provider: SocialProvider
  readonly connected: ConnectedProvider
}

/** A failure of the provider is a refusal with its code, so that the event of the attempt has it. */
async function asRefusal<T>(kit: FeatureKit, provider: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error
    if (error.code !== 'access_denied')
      kit.logger.warn({ provider, reason: error.message }, 'A provider has not completed a sign-in')
    throw refused(error.code, { cause: error })
  }
}

/** The cookies of earlier flows, once there are too many, so that the header never becomes too long. */
function superfluous(kit: FeatureKit, cookies: string): readonly RefreshCookie[] {
  const { name: start } = kit.cookie(COOKIE)
  const names = cookies.split('; ').map((each) => each.slice(0, each.indexOf('=')))
  const states = names.filter((each) => each.startsWith(start)).map((each) => each.slice(start.length))
  return states.length < MOST_FLOWS ? [] : states.map((state) => kit.cookie(COOKIE + state))
}

/** The state of a callback is random text of one length, and becomes a part of a cookie's name. */
function stateOf(query: string): string | null {
  const state = new URLSearchParams(query).get('state') ?? ''
  return /^[\w-]{43}$/.test(state) ? state : null
}

function random(): string {
  return randomBytes(RANDOM).toString('base64url')
}
