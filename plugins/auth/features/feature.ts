import type {
  AnyRouter,
  BrickServices,
  Clock,
  DefinedRoute,
  DoctorFinding,
  EventBus,
  Logger,
  Outages,
  Policy,
} from 'mortar'
import type { Peers } from 'mortar/kit'
import type { AuthStore, NewUser, StoredSession, StoredUser } from '../accounts/auth-store.ts'
import type { FeatureTable, Records, TableShape } from '../accounts/records.ts'
import type { RefreshCookie } from '../cookies/refresh-cookie.ts'
import type { AuthEvents } from '../events/events.ts'
import type { FlowName, Known } from '../events/outcomes.ts'
import type {
  Caller,
  FactorChange,
  FactorCodes,
  FeaturePoints,
  Grant,
  NewAccount,
  OwnSession,
} from '../flows/proof.ts'
import type { LimitRule } from '../limits/limit-rules.ts'
import type { RedeemTicket } from '../sessions/ticket-owner.ts'
import type { FactorFields } from '../routes/shapes.ts'
import type { SignUpShape } from '../routes/sign-up-shape.ts'
import type { Challenges } from './challenges/challenges.ts'
import type { MailTexts, Outbox } from './mails.ts'
import type { Vault } from '../tokens/vault.ts'

/**
 * A part of the provider that an application can leave out, such as `recent()`: an entry of the option `features`. It is
 * data until the provider is connected to an application.
 */
export interface AuthFeature {
  readonly name: FeatureName
  /** Features that must be in the list too. */
  readonly requires?: readonly FeatureName[]
  /** Packages that it needs. */
  readonly peers?: Peers
  /** Tables, for doctor, the start and the indexes of documents. The schema entry of the feature has their entities. */
  readonly tables?: readonly TableShape[]
  /** Routers below the prefix of the brick. Their handlers read the feature by `featureOf`. */
  readonly routes?: readonly AnyRouter[] | ((features: readonly AuthFeature[]) => readonly AnyRouter[])
  /** Replaces the route `POST /signup`. */
  readonly signUp?: (shape: SignUpShape) => DefinedRoute
  /** True if a login responds with 403 for an account whose address is not proven. */
  readonly refusesUnverified?: true
  /** True if it makes accounts, with name and address alone. */
  readonly makesAccounts?: true
  /** Fields of a second factor in the bodies of endpoints that ask for the password. */
  readonly factorFields?: Readonly<Partial<FactorFields>>
  /** Findings for `mortar doctor` about its tables, in a database that is connected. */
  readonly doctor?: (tables: FeatureTables) => Promise<readonly DoctorFinding[]>
  connect(kit: FeatureKit): ConnectedFeature
}

/** The features of this package. */
export type FeatureName =
  | 'recent'
  | 'sessions'
  | 'notices'
  | 'emailVerification'
  | 'totp'
  | 'social'
  | 'passkeys'
  | 'account'
  | 'audit'
  | 'ticket'

/** A feature of one application. */
export interface ConnectedFeature extends FeaturePoints {
  /** The operations behind its routes. */
  readonly api?: object
  /** Policies for `auth` on a route. */
  readonly policies?: Readonly<Partial<Record<FeaturePolicy, Policy>>>
  /** Uses a ticket up. The provider then looks its session up as that of any credential. */
  readonly redeemTicket?: RedeemTicket
}

/** Policies of features. */
export type FeaturePolicy = 'fresh' | 'verified' | 'mfa'

/** The tables of features, and the vault of their sealed texts. */
export interface FeatureTables {
  readonly vault: Vault
  records(shape: TableShape): Records
}

/** An attempt with an event for each of its ends, and a limit. */
export interface FeatureAttempt {
  readonly flow: FlowName
  readonly rule: LimitRule
  readonly caller: Caller
  readonly known: Known
  /** The subject of the limit, besides the client's address. */
  readonly counted: { readonly email?: string; readonly user?: string }
}

/** Services for a feature. None of them has a key, and a session begins in `sessions` alone. */
export interface FeatureKit {
  readonly services: BrickServices
  readonly clock: Clock
  readonly logger: Logger
  readonly outages: Outages
  readonly events: EventBus<AuthEvents>
  readonly users: Pick<AuthStore, 'findUserById' | 'findUserByEmail'>
  readonly sessions: FeatureSessions
  readonly accounts: FeatureAccounts
  readonly mails: Outbox
  readonly vault: Vault
  /** True if a login is refused for an account whose address is not proven. */
  readonly refusesUnverified: boolean
  /** True if users are asked to prove their addresses. */
  readonly asksForProof: boolean
  /** Current time of the store in milliseconds, on which all processes agree. */
  storeTime(): Promise<number>
  /** A cookie with the attributes of the refresh cookie. */
  cookie(name: string): RefreshCookie
  records(shape: TableShape): Records
  /** The tables of every feature. */
  readonly tables: readonly FeatureTable[]
  readonly challenges: Challenges
  /** Returns the address of a path below the prefix, for a mail. @throws StartupError `MORTAR_AUTH_APP_URL` without `appUrl`. */
  linkTo(path: string): string
  /**
   * Reads from the database, then runs work after the response, at a random delay. What the work throws is logged, so the
   * response shows a database that is away, and nothing else.
   */
  later(work: () => Promise<void>): Promise<void>
  verifyPassword(user: StoredUser, password: string): Promise<boolean>
  /**
   * Verifies the password of a user whom the request did not name. Failures count with those of change-password.
   * @throws LimitReached, ServiceUnavailable if too many hashes wait.
   */
  provePassword(user: StoredUser, password: string): Promise<boolean>
  /**
   * Stores that a user has proved to own `email`. With a new address every session of the user ends.
   * @returns `over` if the account has changed meanwhile; `taken` if another account has the address.
   */
  proveEmail(user: StoredUser, email: string): Promise<'changed' | 'over' | 'taken'>
  /** Creates an account after the response, which is the same for a taken address. @throws PasswordRefused, LimitReached. */
  signUpUnseen(input: NewAccount, caller: Caller, told: SignUpTold): Promise<void>
  /**
   * Counts an attempt, runs its work and emits its event.
   * @throws LimitReached, ServiceUnavailable if too many hashes wait, and errors of `work`.
   */
  attempt<T>(attempt: FeatureAttempt, work: () => Promise<T>): Promise<T>
  /** The first part of an attempt: emits an event only when it fails. */
  begin<T>(attempt: FeatureAttempt, work: () => Promise<T>): Promise<T>
  /** Counts a further limit within an attempt, and runs its work. @throws LimitReached, and errors of `work`. */
  count<T>(attempt: Pick<FeatureAttempt, 'rule' | 'caller' | 'counted'>, work: () => Promise<T>): Promise<T>
  /**
   * Verifies the factor of a user whose password was verified again.
   * @returns the methods of the proof.
   * @throws Unauthorized `second_factor_required`, `invalid_code`; LimitReached.
   */
  proveAgain(user: StoredUser, codes: FactorCodes, caller: Caller): Promise<readonly string[]>
  /**
   * Verifies a response of a passkey of a user, which needs no password.
   * @returns the methods of the proof.
   * @throws Unauthorized `invalid_passkey`.
   */
  provePasskey(user: StoredUser, passkey: object, caller: Caller): Promise<readonly string[]>
  /** Mails a notice about an account, with the link of `notices()` for an owner who did not do it. */
  notify(user: StoredUser, texts: MailTexts, caller: Caller): Promise<void>
  /** Tells every feature of a change of the second factor. */
  factorChanged(user: StoredUser, change: FactorChange, caller: Caller): Promise<void>
  /** The number of ways into an account: its password, and those of every feature. */
  waysIn(user: StoredUser): Promise<number>
  /** Clears the failures that the limit of an attempt has counted. */
  succeeded(attempt: Pick<FeatureAttempt, 'rule' | 'caller' | 'counted'>): Promise<void>
}

/** Receives the end of an unseen signup. */
export interface SignUpTold {
  created(user: StoredUser): Promise<void>
  taken(user: StoredUser): Promise<void>
}

/** Sessions as a feature sees them. */
export interface FeatureSessions {
  /** The user of an active session, as stored now; null if the session is over. */
  findOwner(own: OwnSession): Promise<StoredUser | null>
  /** The user of an active session, as stored now. @throws Unauthorized if the session is over. */
  owner(own: OwnSession): Promise<StoredUser>
  /** The active sessions of a user, the newest first. */
  list(user: StoredUser): Promise<readonly StoredSession[]>
  /** Ends a session in every process. @returns false if it was not stored any more. */
  end(sessionId: string): Promise<boolean>
  /** Ends every session of a user but one. @returns false if the account has changed since it was read. */
  endOthers(user: StoredUser, kept: string): Promise<boolean>
  /**
   * Replaces a session of a user who has proved again who he is, by one with a new id (ASVS 7.2.4).
   * @returns null if the session is over, or was replaced by another request.
   */
  renew(user: StoredUser, sessionId: string, renewal: SessionRenewal): Promise<Grant | null>
  /**
   * Begins the session of a login with a further step. Other features may ask for more.
   * @returns null for a disabled account, and if its password was changed since.
   */
  begin(user: StoredUser, login: SteppedLogin): Promise<Grant | null>
  /** Ends every session and login in progress of the account that was read, unless it has changed. @returns it for a new session. */
  endAll(user: StoredUser): Promise<StoredUser>
}

/** Accounts as a feature sees them. */
export interface FeatureAccounts {
  /** @returns null when the address is taken. */
  create(user: NewUser): Promise<StoredUser | null>
  /** Disables the account that was read, and ends its sessions. @returns false if it has changed since. */
  disable(user: StoredUser): Promise<boolean>
  /** Enables the account that was read. @returns false if it has changed since. */
  enable(user: StoredUser): Promise<boolean>
  /** Deletes a disabled account with all of its rows. @returns false if it was enabled or deleted since it was read. */
  erase(user: StoredUser): Promise<boolean>
  /** Deletes the rows of a user who is gone. */
  forget(userId: string): Promise<void>
  /** Enables the account that was read, if its user is deleting it. @returns false if an operator has disabled it. */
  reopen(user: StoredUser): Promise<boolean>
  /** Ends every session and the password of the account that was read, until a reset. @returns false if it has changed since. */
  endPassword(user: StoredUser): Promise<boolean>
  /** Removes what was added after `since` and signs a user in, or asks for more. @returns false for nothing. */
  forgetAdded(user: StoredUser, since: number): Promise<boolean>
  /** Mails a link that sets a new password, after the response, and again while that fails. Each failure is an event. */
  startReset(user: StoredUser, caller: Caller): void
}

/** A new session in place of another one. */
export interface SessionRenewal {
  readonly caller: Caller
  readonly methods: readonly string[]
  /** True if the other session has ended already. */
  readonly isOver?: boolean
}

/** The last step of a login. */
export interface SteppedLogin {
  readonly caller: Caller
  readonly methods: readonly string[]
  readonly isKnownDevice: boolean
  /** `signup` for an account that was created just now; `login` by default. */
  readonly way?: 'login' | 'signup'
  /** Refresh token of the browser's previous session, which ends. */
  readonly presented: string | null
}
