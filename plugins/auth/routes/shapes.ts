import * as yup from 'mortar/yup'
import { canonicalEmail } from '../accounts/canonical-email.ts'
import { displayName } from '../accounts/display-name.ts'
import { checkPassword } from '../passwords/passwords.ts'

/** A string: a number or a list is an issue and is not converted. */
const text = () => yup.string().strict().required()

/** A string that passes `fault`; `required()` already reports missing or empty ones. */
const judged = (name: string, fault: (value: string) => string | undefined) =>
  text().test(name, (value, { createError }) => {
    const message = value ? fault(value) : undefined
    return message === undefined || createError({ message })
  })

/** An e-mail address in any spelling; the handler converts it to its canonical form. */
export const email = judged('email', (value) =>
  canonicalEmail(value) === null ? 'Write an e-mail address.' : undefined,
).meta({ format: 'email', description: 'Converted to canonical form: NFC, trimmed, lower case.' })

/** A new password. */
export const newPassword = judged('password', checkPassword).meta({
  format: 'password',
  description: '8 to 256 characters, at most 1,024 bytes.',
})

/** An existing password; verification shows if it is valid. */
export const knownPassword = text().meta({ format: 'password' })

/** Codes of a second factor, of which a body has one. */
export const FACTOR_FIELDS = {
  code: yup
    .string()
    .strict()
    .matches(/^\d{6}$/, 'Write the six digits of the authenticator.')
    .meta({ description: 'Six digits of the authenticator.' }),
  recoveryCode: yup.string().strict().max(64).meta({ description: 'A recovery code, in place of `code`.' }),
}

/** Bytes in base64url, at most `most` characters. */
export const base64url = (most: number) =>
  text()
    .matches(/^[\w-]+$/, 'Write base64url.')
    .max(most)

/** Members of every response of a passkey, as of `PublicKeyCredential.toJSON()`. */
export const CREDENTIAL = {
  id: base64url(1364),
  type: text().oneOf(['public-key']),
}

/** A response of a passkey, to be verified. */
export const assertion = yup
  .object({
    ...CREDENTIAL,
    response: yup
      .object({
        clientDataJSON: base64url(4096),
        authenticatorData: base64url(4096),
        signature: base64url(2048),
        userHandle: base64url(86).optional().nullable(),
      })
      .required(),
  })
  .meta({ description: 'toJSON() of the result of navigator.credentials.get().' })

/** Fields of second factors in a body with a password; all are optional. */
export interface FactorFields {
  readonly code: (typeof FACTOR_FIELDS)['code']
  readonly recoveryCode: (typeof FACTOR_FIELDS)['recoveryCode']
  readonly passkey: typeof OPTIONAL_PASSKEY
}

const OPTIONAL_PASSKEY = assertion.optional().default(undefined)

/** The field of a passkey, in place of a code. */
export const PASSKEY_FIELDS = { passkey: OPTIONAL_PASSKEY }

/** Returns the fields of second factors for a body with a password, if accounts may have one. */
export function factorFields(
  features: readonly { readonly factorFields?: Readonly<Partial<FactorFields>> }[],
): FactorFields {
  // The fields are optional, so a body without them has the same type.
  return Object.assign({}, ...features.map((feature) => feature.factorFields)) as FactorFields
}

/** A display name; the handler converts it to its stored form. */
export const shownName = judged('name', (value) =>
  displayName(value) === null ? 'Write a name of at most 200 characters without line breaks.' : undefined,
).meta({ description: '1 to 200 characters.' })

/** Body of signup. */
export const signUpBody = yup
  .object({ name: shownName, email, password: newPassword })
  .meta({ title: 'SignUp' })

/** Input of `invite`. */
export const invitedBody = signUpBody.omit(['password'])

/** The token of a link. */
export const linkToken = text().max(256)

const accessToken = yup.string().required().meta({ description: 'JWT for Authorization: Bearer.' })

const expiresIn = yup
  .number()
  .integer()
  .required()
  .meta({ description: 'Seconds until the access token expires.' })

const publicUser = yup
  .object({
    id: yup.string().required(),
    name: yup.string().required(),
    email: yup.string().required(),
  })
  .label('AuthUser')

/** Body of signup and login. */
export const signedIn = yup.object({ user: publicUser.required(), accessToken, expiresIn }).label('SignedIn')

/** Body of refresh. */
export const refreshed = yup.object({ accessToken, expiresIn }).label('AccessToken')

const shown = yup.string().required()

/** Body of endpoints that return only a message. */
export const message = yup.object({ message: shown }).label('AuthMessage')

/** Body of change-password. */
export const changedPassword = yup.object({ message: shown, accessToken, expiresIn }).label('ChangedPassword')

/** Body of me: the same fields for every user, and the whole public record. */
export const currentUser = publicUser
  .shape({
    raw: yup
      .mixed()
      .required()
      .meta({ description: 'The public record, with the columns that the application added.' }),
  })
  .label('CurrentUser')

/** Response of routes with `auth: 'fresh'`. */
export const stale = { description: 'The last proof of the user is too old: POST /auth/confirm.' }

/** Response of limited endpoints beyond their limit. */
export const limited = { description: 'Too many attempts. Retry-After gives the seconds to wait.' }

/** Response of endpoints with the refresh cookie to a page of another origin. */
export const crossSite = {
  description: 'A page of another origin made the browser send the refresh cookie.',
}

/** Body of endpoints that need no body: a body that is sent must be a JSON object and is ignored. */
export const ignored = yup.object()

/** Common settings of endpoints with a body: JSON only, so that a form of another site cannot send one. */
export const JSON_BODY = { consumes: ['application/json'], bodyLimit: '16kb' } as const

/** The body and the responses of a route that spends the link of a mail. `title` is that of the body. */
export const spentLink = (title: string) =>
  ({
    ...JSON_BODY,
    body: yup.object({ token: linkToken }).meta({ title }),
    response: {
      200: message,
      401: { description: 'The link is not valid: it was used, or its time is over.' },
      429: limited,
    },
  }) as const
