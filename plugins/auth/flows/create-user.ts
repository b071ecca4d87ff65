import { randomUUID } from 'node:crypto'
import { ValidationError, type AnyObjectSchema } from 'mortar/yup'
import { ValidationFailed, type User } from 'mortar'
import { canonicalEmail } from '../accounts/canonical-email.ts'
import { checkOwnFields } from '../accounts/sign-up-fields.ts'
import { displayName } from '../accounts/display-name.ts'
import { userOf } from '../accounts/signed-in-user.ts'
import type { StoredUser } from '../accounts/auth-store.ts'
import { signUpBody } from '../routes/shapes.ts'
import { insertUser } from './prove-email.ts'
import { refuseWeak, type AuthParts } from './parts.ts'
import type { NewAccount } from './proof.ts'
import { refused } from '../refusals.ts'

/**
 * Creates an account without HTTP, for seeds, tests and administrators: the rules of signup, without its limits, its
 * event and its session. The address is stored in canonical form.
 * @throws ValidationFailed with the issues of signup, PasswordRefused, Conflict `email_taken`.
 */
export async function createUser(parts: AuthParts, input: NewAccount): Promise<User> {
  const { id, raw } = await insertAccount(parts, await canonicalAccount(signUpBody, input))
  return userOf({ sub: id, user: raw })
}

/** Validates an account that code creates, and converts it. @throws ValidationFailed, TypeError for a field of the framework. */
export async function canonicalAccount<Input extends Omit<NewAccount, 'password'>>(
  body: AnyObjectSchema,
  input: Input,
): Promise<Input> {
  checkOwnFields(input.fields)
  await validate(body, input)
  // Validation has checked both with the same functions.
  return { ...input, name: displayName(input.name)!, email: canonicalEmail(input.email)! }
}

/**
 * Stores a new account. The password is hashed before the address is inserted, so that a taken address costs the same
 * time.
 * @throws PasswordRefused, Conflict `email_taken`.
 */
export async function insertAccount(parts: AuthParts, input: NewAccount): Promise<StoredUser> {
  return insertHashed(parts, input, await hashNewPassword(parts, input))
}

/** Hashes the password of a new account. @throws PasswordRefused. */
export async function hashNewPassword(
  parts: AuthParts,
  { name, email, password }: NewAccount,
): Promise<string> {
  await refuseWeak(parts, 'password', password, { name, email })
  return parts.passwords.hash(password)
}

/** Stores a new account. @throws Conflict `email_taken`. */
export async function insertHashed(
  parts: AuthParts,
  { name, email, fields = {} }: Omit<NewAccount, 'password'>,
  passwordHash: string | null,
): Promise<StoredUser> {
  const account = { id: randomUUID(), name, email, passwordHash, fields, now: parts.clock.now() }
  const user = await insertUser(parts, account).catch(async (error: unknown) => {
    // Only the reply may be lost: then the address would be taken when the caller repeats this.
    const stored = await parts.store.findUserById(account.id)
    if (stored === null) throw error
    return stored
  })
  if (user === null) throw refused('email_taken')
  return user
}

/** Validates the input of code. @throws ValidationFailed with the issues of an endpoint with this body. */
async function validate(body: AnyObjectSchema, input: object): Promise<void> {
  try {
    await body.validate(input, { abortEarly: false })
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    throw new ValidationFailed(error.inner.map(issueOf))
  }
}

/** Makes the issue that signup reports. Its fields are strings, and yup has two names for a missing value. */
function issueOf({ path = '', type = '', message }: ValidationError) {
  const issue = { location: 'body', path, message } as const
  if (type === 'typeError') return { ...issue, rule: 'type', params: { type: 'string' } }
  return { ...issue, rule: type === 'optionality' || type === 'nullable' ? 'required' : type }
}
