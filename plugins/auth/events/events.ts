/** Fields of every event of the auth brick. No event contains a password, a token or a hash of one. */
export interface AuthEvent {
  /** Client address. */
  readonly ip?: string
  /** Id of the request. */
  readonly requestId?: string
}

/** An event about a known user. */
export interface UserEvent extends AuthEvent {
  readonly userId: string
}

/** An event about a session of a known user. */
export interface SessionEvent extends UserEvent {
  readonly sessionId: string
}

/** An attempt that was refused before the account look-up; `email` in canonical form. */
export interface AddressEvent extends AuthEvent {
  readonly email?: string
}

/**
 * An attempt beyond a limit, with the scope that it counts, such as `ip`, `address` or `user`.
 */
export interface LimitedEvent extends AddressEvent {
  readonly scope: string
  readonly userId?: string
}

/**
 * Reason of a failed attempt: the code of the refusal; `weak_password`; `busy` if too many hashes wait; `error` if the
 * server failed (the log has that error).
 */
export interface FailureEvent extends AddressEvent {
  readonly reason: string
  readonly userId?: string
}

/**
 * The events of the auth brick by type, for `app.events.typed<AuthEvents>()`. Each flow that begins emits exactly one
 * event for each of its ends (OWASP Logging Vocabulary; ASVS 16.3.1). A request that fails its schema or the guard
 * begins no flow. `auth.password.unusable`, `auth.password.reset.mail.failed`, `auth.limits.*` and `auth.sessions.*`
 * describe the system and are additional.
 */
export interface AuthEvents {
  /** Without `sessionId` if the signup signs nobody in. */
  'auth.signup.succeeded': UserEvent & { readonly sessionId?: string }
  'auth.signup.failed': FailureEvent
  'auth.signup.limited': LimitedEvent
  'auth.login.succeeded': SessionEvent
  /** `userId` only if the address has an account. The response is the same in both cases. */
  'auth.login.failed': FailureEvent
  'auth.login.limited': LimitedEvent
  'auth.token.refreshed': SessionEvent
  /** A refresh cookie without an active session. */
  'auth.token.refused': AuthEvent & { readonly reason: string }
  /** A refresh token of an older generation: somebody has a copy. The session has ended. */
  'auth.token.reused': SessionEvent
  'auth.token.limited': LimitedEvent
  /** Without `sessionId` if there was no session to end. */
  'auth.logout': AuthEvent & { readonly userId?: string; readonly sessionId?: string }
  'auth.logout.failed': AuthEvent & { readonly reason: string; readonly userId?: string }
  'auth.password.changed': SessionEvent
  'auth.password.change.failed': SessionEvent & { readonly reason: string }
  'auth.password.change.limited': LimitedEvent
  /** `userId` only if the address has an account. The response is the same in both cases. */
  'auth.password.reset.requested': AddressEvent & { readonly userId?: string }
  'auth.password.reset.request.limited': LimitedEvent
  'auth.password.reset.request.failed': FailureEvent
  /** The reset mail could not be sent. The response was the same as after a success. */
  'auth.password.reset.mail.failed': UserEvent & { readonly error: string }
  'auth.password.reset.succeeded': UserEvent
  /** `userId` if the token was valid. */
  'auth.password.reset.failed': AuthEvent & { readonly reason: string; readonly userId?: string }
  'auth.password.reset.limited': LimitedEvent
  /** `recent()`: the user has proved again who he is, and the session has a new id. */
  'auth.confirmed': SessionEvent
  'auth.confirm.failed': SessionEvent & { readonly reason: string }
  'auth.confirm.limited': LimitedEvent
  /** `sessions()`: a user has ended sessions of his own; `sessionId` is the session that he did it with. */
  'auth.session.ended': SessionEvent
  'auth.session.end.failed': SessionEvent & { readonly reason: string }
  'auth.session.end.limited': LimitedEvent
  /** `emailVerification()`: a link was redeemed, of the account's address or of a new one. */
  'auth.email.verified': UserEvent
  /** `userId` if the token was valid. */
  'auth.email.verify.failed': AuthEvent & { readonly reason: string; readonly userId?: string }
  'auth.email.verify.limited': LimitedEvent
  'auth.email.link.requested': AuthEvent
  'auth.email.link.request.failed': FailureEvent
  'auth.email.link.request.limited': LimitedEvent
  'auth.email.change.requested': UserEvent
  'auth.email.change.request.failed': UserEvent & { readonly reason: string }
  'auth.email.change.request.limited': LimitedEvent
  /** The link of a new address has replaced the address of the account: in addition to `auth.email.verified`. */
  'auth.email.changed': UserEvent
  /** `totp()`: the password of a login was right, and a code is needed besides. */
  'auth.login.challenged': UserEvent & { readonly email: string }
  /** A user asks for a secret; the factor does not count yet. */
  'auth.factor.requested': SessionEvent
  'auth.factor.added': SessionEvent
  /** By the user, or without `sessionId` by an operator. */
  'auth.factor.removed': UserEvent & { readonly sessionId?: string }
  /** A wrong code, or a set-up that was refused. Without `userId` the challenge was not valid. */
  'auth.factor.failed': FailureEvent
  'auth.factor.limited': LimitedEvent
  /** New recovery codes; the old ones are worthless. */
  'auth.recovery.renewed': SessionEvent
  'auth.recovery.used': UserEvent & { readonly left: number }
  /** A stored secret that no secret of the application opens: `AUTH_SECRETS` lost one too early. */
  'auth.factor.unreadable': UserEvent
  /** `social()`: a user has signed in at another provider. */
  'auth.social.succeeded': SessionEvent
  'auth.social.failed': FailureEvent
  'auth.social.limited': LimitedEvent
  'auth.account.linked': SessionEvent
  /** By the user, or without `sessionId` by an operator. */
  'auth.account.unlinked': UserEvent & { readonly sessionId?: string }
  /** A link, or its end, was refused. */
  'auth.account.failed': FailureEvent
  'auth.account.limited': LimitedEvent
  /** `notices()`: an owner has used the link of a notice; every session has ended, and a reset mail is on its way. */
  'auth.notice.denied': UserEvent
  /** `userId` if the link was valid. */
  'auth.notice.deny.failed': FailureEvent
  'auth.notice.deny.limited': LimitedEvent
  /** `account()`: an account is disabled, and will be deleted when its grace is over. */
  'auth.deletion.requested': SessionEvent
  'auth.deletion.failed': FailureEvent
  'auth.deletion.limited': LimitedEvent
  /** The owner of an account has taken it back. */
  'auth.deletion.cancelled': UserEvent
  /** `userId` if the link was valid. */
  'auth.deletion.cancel.failed': FailureEvent
  'auth.deletion.cancel.limited': LimitedEvent
  /** An account and its rows are deleted, at the end of its grace or by an operator. */
  'auth.user.deleted': UserEvent
  'auth.export.succeeded': SessionEvent
  'auth.export.failed': FailureEvent
  'auth.export.limited': LimitedEvent
  'auth.ticket.issued': SessionEvent
  'auth.ticket.failed': SessionEvent & { readonly reason: string }
  'auth.ticket.limited': LimitedEvent
  /** `passkeys()`: a user has signed in with a passkey. */
  'auth.passkey.succeeded': SessionEvent
  /** A login, or a change of the passkeys of a user, was refused. Without `userId` the passkey is unknown. */
  'auth.passkey.failed': FailureEvent
  'auth.passkey.limited': LimitedEvent
  'auth.passkey.added': SessionEvent
  /** By the user, or all of them by an operator, without `sessionId`. */
  'auth.passkey.removed': UserEvent & { readonly sessionId?: string }
  /** The counter of a passkey has not risen: somebody may have a copy. The login was refused. */
  'auth.passkey.copied': UserEvent
  /** A mail of a feature could not be sent. */
  'auth.mail.failed': UserEvent & { readonly kind: string; readonly error: string }
  /** An unsafe request with a cookie came from another origin. */
  'auth.csrf.refused': AuthEvent & { readonly path: string }
  /** A stored password hash that cannot be verified: damaged, or beyond the ceilings of cost. */
  'auth.password.unusable': UserEvent
  /** The list of ended sessions cannot be read; guarded routes respond 503 until it can. */
  'auth.sessions.unknown': { readonly error: string }
  'auth.sessions.known': object
}
