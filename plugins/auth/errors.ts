import { ServiceUnavailable, Unauthorized, ValidationFailed, type HttpErrorOptions } from 'mortar'
import { databaseFaultOf, inCauses } from 'mortar/kit'
import { schemaEntry } from './accounts/schema-entries.ts'

/** A table of the auth brick is missing in the database: an operator's error, found at the first statement. */
export class MissingTable extends Error {
  override readonly name = 'MissingTable'
  readonly table: string

  constructor(table: string, cause: unknown) {
    super(
      `no such table: ${table}. Run the pending migrations ('npx mortar migrate run'). If none is pending, re-export ` +
        `'${schemaEntry(table)}' from your schema module (export * from '${schemaEntry(table)}'), ` +
        `so that it is among the entities of your DataSource, then create and run a migration ('npx mortar migrate generate', 'npx mortar migrate run').`,
      { cause },
    )
    this.table = table
  }
}

/** A column of the auth brick is missing in the database: the schema is older than the code. */
export class MissingColumn extends Error {
  override readonly name = 'MissingColumn'
  readonly column: string

  constructor(column: string, cause?: unknown) {
    super(
      `no such column in the auth tables: ${column}. The database has the tables of an earlier version; ` +
        `create and run a migration ('npx mortar migrate generate', 'npx mortar migrate run').`,
      { cause },
    )
    this.column = column
  }
}

/** 401 of a login, a confirmation or a change of password that needs a second factor. The password was right. */
export class SecondFactorRequired extends Unauthorized {
  constructor(
    methods: readonly string[],
    login?: { readonly challenge: string; readonly expiresIn: number },
  ) {
    super('This account has a second factor. Send its code too.', {
      code: 'second_factor_required',
      extensions: { methods, ...login },
    })
  }
}

/** 401 of change-password and confirm when the current password is not right. */
export function wrongCurrentPassword(): Unauthorized {
  return new Unauthorized('The current password is wrong.', { code: 'invalid_credentials' })
}

/** 422 for a new password that is too easy to guess; `message` gives the reason. */
export class PasswordRefused extends ValidationFailed {
  constructor(path: 'password' | 'next', message: string) {
    super([{ location: 'body', path, rule: 'password', message }])
  }
}

/** 401 of refresh for a token of an older generation: somebody has a copy. The session has ended. */
export class TokenReused extends Unauthorized {
  readonly session: { readonly userId: string; readonly sessionId: string }

  constructor(session: TokenReused['session']) {
    super(NO_SESSION, { code: 'invalid_session' })
    this.session = session
  }
}

const NO_SESSION = 'There is no session to refresh; log in again.'

/** 401 of change-password when the session or the account has ended in the meantime. */
export function sessionOver(): Unauthorized {
  return new Unauthorized('The session is over.', { code: 'invalid_token' })
}

/** 401 of refresh: no cookie, or its session has ended. */
export function invalidSession(options: HttpErrorOptions = {}): Unauthorized {
  return new Unauthorized(NO_SESSION, { ...options, code: 'invalid_session' })
}

/** 401 of refresh: the session was ended or replaced. Another tab of the browser may have a newer cookie by now. */
export class SessionGone extends Unauthorized {
  constructor() {
    super(NO_SESSION, { code: 'invalid_session' })
  }
}

/** 503 of a process that lacks a newer secret: it cannot make a session's successor, or open an authenticator. */
export function unknownSecret(found: string): ServiceUnavailable {
  return new ServiceUnavailable(`${found} here right now. Try again shortly.`, { retryAfter: 1 })
}

/** 503 of refresh: the same client has refreshed with a newer token since this request arrived. */
export class OvertakenRefresh extends ServiceUnavailable {
  constructor() {
    super('Another refresh of this session was faster. Try again with the newest cookie.', { retryAfter: 1 })
  }
}

/** 503 of every endpoint that ends a session: the end could not be stored, so the session continues. */
export function cannotEndSession(cause: unknown): ServiceUnavailable {
  return new ServiceUnavailable('The session cannot be ended right now. Try again shortly.', {
    retryAfter: 1,
    cause,
  })
}

/** 503 of every endpoint while the database does not respond. A write may have been applied nevertheless. */
export class DatabaseUnavailable extends ServiceUnavailable {
  constructor(cause: unknown) {
    super('The database cannot be reached right now. Try again shortly.', { retryAfter: 1, cause })
  }
}

/** True for the errors of each store: the 503 of a document database, and a failed statement or what it has caused. */
export function isDatabaseAway(error: unknown): boolean {
  const fault = inCauses(error, (each) =>
    each instanceof DatabaseUnavailable ? 'unavailable' : databaseFaultOf(each['driverError']),
  )
  return fault !== undefined
}

/** 503 of a guarded route: this process does not know if the caller's session ended in another process. */
export function sessionStateUnknown(cause: unknown): ServiceUnavailable {
  return new ServiceUnavailable('The state of your session cannot be checked right now. Try again shortly.', {
    code: 'session_state_unknown',
    retryAfter: 1,
    cause,
  })
}

/** 401 of the link of an address without the session or the password of its account. */
export function ownerNeeded(): Unauthorized {
  return new Unauthorized('Sign in to the account of this link, or send its password.', {
    code: 'invalid_credentials',
  })
}

/** 422 for a change to the current address. */
export function ownAddress(): ValidationFailed {
  return new ValidationFailed([
    { location: 'body', path: 'email', rule: 'email', message: 'This is the address of your account.' },
  ])
}

/** Describes a failure for a log line or an event, with `secret` removed from the message. */
export function describeFailure(error: unknown, secret?: string): string {
  const { cause } = (error ?? {}) as { readonly cause?: unknown }
  // A 503 has a message for clients; its cause has the reason.
  const reason = error instanceof ServiceUnavailable && cause instanceof Error ? cause : error
  const text = reason instanceof Error ? `${reason.name}: ${reason.message}` : typeof reason
  return secret ? text.replaceAll(secret, '[token]') : text
}
