import { randomUUID } from 'node:crypto'
import { ignore } from 'mortar/kit'
import { describeFailure } from '../errors.ts'
import type { StoredResetToken, StoredUser } from '../accounts/auth-store.ts'
import { despiteLostReply } from './lost-reply.ts'
import { isPermanent } from './mail-message.ts'
import { withEvent, withFailureEvent, type Attempt } from './outcome.ts'
import { countAttempt, eventOrigin, type AuthParts, type Caller } from './parts.ts'

/** Validated input of forgot-password; `email` in canonical form. */
export interface ForgotPasswordInput {
  readonly email: string
  /** Value of the device cookie, if the browser sent one. */
  readonly device?: string | null
}

/** An address that cannot belong to an account (RFC 6761 §6.4). */
export const NOBODY = 'nobody@nowhere.invalid'

/**
 * Creates the flow, which resolves before the mail is started, for every address alike. @throws LimitReached
 *
 * The response follows a look-up that is the same for every address and fails like the real one. The
 * real look-up, token, statements and mail follow after a random delay, or as a job that is stored before the response, and an address without an account causes the
 * same work. Neither the response nor later requests reveal if the account exists (ASVS 6.3.8).
 */
export function createForgotPassword(parts: AuthParts) {
  const addJob = parts.resetMail.jobQueue?.define(
    'auth:reset-mail',
    (data, _, { number }) => sendQueued(parts, data as QueuedMail, number),
    // Often enough for a link of minutes, and until it has expired.
    { longestBackoff: '5m', attempts: 10 + Math.ceil(parts.lifetimes.resetToken / 300) },
  )

  return async ({ email, device = null }: ForgotPasswordInput, caller: Caller): Promise<void> => {
    const attempt: Attempt = { flow: 'forgot', caller, known: { email } }
    await withFailureEvent(parts, attempt, async () => {
      await countAttempt(parts, caller, 'forgot', { email, device: parts.devices.verify(device, email) })
      await parts.store.findUserByEmail(NOBODY)
      await addJob?.({ email, ...eventOrigin(caller), requestedAt: parts.clock.now() })
    })
    const find = () => findOwner(parts, email, attempt)
    if (addJob === undefined)
      parts.mails.later(() => sendFound(parts, { caller, find, pretend: () => pretend(parts, email) }))
  }
}

/** An account to be looked up for a link. */
interface Wanted {
  readonly caller: Caller
  find(): Promise<StoredUser | null>
  /** Does the work of a mail without an account. */
  pretend?(): Promise<void>
}

/** Mails a link to an account. A look-up that fails is logged, and repeated while its link would be valid. */
async function sendFound(parts: AuthParts, { caller, find, pretend: otherwise }: Wanted): Promise<void> {
  const { clock, lifetimes, mails, outages } = parts
  const until = clock.now() + lifetimes.resetToken * 1000
  await mails.repeats.run(async () => {
    try {
      const user = await find()
      if (user !== null && !user.isDisabled) return await sendToken(parts, user, caller)
      await otherwise?.()
      return true
    } catch (error) {
      const message = 'A request for a reset mail could not be completed'
      outages.log({ part: 'reset mail', error, level: 'error', message })
      return clock.now() >= until
    }
  })
}

/** Finds the account of an address; null if there is no account that may log in. Emits the event of `attempt`, if given. */
async function findOwner(parts: AuthParts, email: string, attempt?: Attempt): Promise<StoredUser | null> {
  const find = async () => {
    const found = await parts.store.findUserByEmail(email)
    if (found && attempt) attempt.known.userId = found.id
    return found
  }
  const user = await (attempt ? withEvent(parts, attempt, find) : find())
  return user && !user.isDisabled ? user : null
}

/** A request for a reset mail in the queue of jobs. It has no token: each attempt issues its own. */
interface QueuedMail {
  readonly email: string
  readonly requestId: string
  readonly ip: string
  readonly requestedAt: number
}

/** Sends a mail of the queue once; an error repeats the job. After the lifetime of a link nobody waits for it. */
async function sendQueued(
  parts: AuthParts,
  { email, ip, requestId, requestedAt }: QueuedMail,
  attempt: number,
): Promise<void> {
  if (parts.clock.now() >= requestedAt + parts.lifetimes.resetToken * 1000) return
  const caller: Caller = { id: requestId, ip, set: () => undefined }
  // A repetition belongs to the same request.
  const event: Attempt | undefined = attempt === 1 ? { flow: 'forgot', caller, known: { email } } : undefined
  const user = await findOwner(parts, email, event)
  await (user === null ? pretend(parts, email) : sendOnce(parts, user, caller))
}

/** Stores a token. A statement that has stored it and then fails counts as done: a repetition would find its key taken. */
async function storeToken({ store, clock, mostResetTokens }: AuthParts, stored: StoredResetToken) {
  await despiteLostReply(
    () => store.insertResetToken(stored, mostResetTokens).then(() => true),
    async () => (await store.findResetToken(stored.tokenHash, clock.now())) !== null,
  )
}

/** Stores and sends a token. A failure is an event, and an error for the queue. */
async function sendOnce(parts: AuthParts, user: StoredUser, caller: Caller): Promise<void> {
  const { token, stored } = issue(parts, user, parts.lifetimes.resetToken)
  try {
    await storeToken(parts, stored)
    await parts.resetMail.send(user.email, token)
  } catch (error) {
    emitFailure(parts, { caller, userId: user.id, token }, error)
    // The queue stores and logs what it catches, so the message must not have the token.
    throw Object.assign(new Error(describeFailure(error, token)), { permanent: isPermanent(error) })
  }
}

/**
 * Stores and sends a token. What fails is repeated while the link is valid, and each failure is an event.
 * @returns false if it has failed and is not repeated.
 */
async function sendToken(parts: AuthParts, user: StoredUser, caller: Caller): Promise<boolean> {
  const { token, stored } = issue(parts, user, parts.lifetimes.resetToken)
  let isStored = false
  return parts.mails.repeats.run(async () => {
    try {
      if (!isStored) await storeToken(parts, stored)
      // The owner has used a later link meanwhile, or this one has expired.
      else if (!(await parts.store.findResetToken(stored.tokenHash, parts.clock.now()))) return true
      isStored = true
      await parts.resetMail.send(user.email, token)
      return true
    } catch (error) {
      emitFailure(parts, { caller, userId: user.id, token }, error)
      return isPermanent(error) || parts.clock.now() >= stored.expiresAt
    }
  })
}

/** Sends a link to an account that was not asked for by its address, and again while that fails. Each failure is an event. */
export function sendReset(parts: AuthParts, userId: string, caller: Caller): Promise<void> {
  return sendFound(parts, { caller, find: () => parts.store.findUserById(userId) })
}

function emitFailure(
  { events }: AuthParts,
  { caller, userId, token }: { readonly caller: Caller; readonly userId: string; readonly token: string },
  error: unknown,
): void {
  events.emit('auth.password.reset.mail.failed', {
    ...eventOrigin(caller),
    userId,
    error: describeFailure(error, token),
  })
}

/**
 * Repeats the work of `sendToken` for an address without an account. Its token has no owner and has already expired.
 */
async function pretend(parts: AuthParts, email: string): Promise<void> {
  const { token, stored } = issue(parts, { id: randomUUID(), passwordVersion: 0 }, 0)
  // The same failure occurs in `sendToken`, which reports it.
  await parts.store.insertResetToken(stored, parts.mostResetTokens).catch(ignore)
  await parts.resetMail.rehearse(email, token).catch(ignore)
}

/** Makes a reset token of a user, and the record to store. `lifetime` in seconds. */
export function issue(
  parts: AuthParts,
  { id: userId, passwordVersion }: Pick<StoredUser, 'id' | 'passwordVersion'>,
  lifetime: number,
) {
  const { token, hash: tokenHash } = parts.resetTokens.issue()
  const createdAt = parts.clock.now()
  return {
    token,
    stored: { tokenHash, userId, passwordVersion, createdAt, expiresAt: createdAt + lifetime * 1000 },
  }
}
