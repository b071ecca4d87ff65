import * as yup from 'yup'
import { canonicalEmail } from '../canonical-email.ts'
import { checkPassword } from '../passwords.ts'

/** Text and nothing else: a number or a list is an error, not turned into text. */
const text = () => yup.string().strict().required()

/** An e-mail address in any spelling; the handler takes its canonical form. */
export const email = text()
  .test('email', 'Write an e-mail address.', (value) => canonicalEmail(value) !== null)
  .meta({ format: 'email', description: 'Taken in canonical form: NFC, trimmed, lower case.' })

/** A password that somebody chooses. */
export const newPassword = text()
  .test('password', (value, { createError }) => {
    const message = checkPassword(value)
    return message === undefined || createError({ message })
  })
  .meta({ format: 'password', description: '8 to 256 characters, at most 1,024 bytes.' })

/** A password that somebody claims to have; whether it could be one shows when it is verified. */
export const knownPassword = text().meta({ format: 'password' })

/** A name to be shown: not blank, and nothing invisible that could break a line or a mail header. */
export const displayName = text()
  .max(200)
  .test(
    'name',
    'Write a name without control characters.',
    (value) => /\S/.test(value) && !/[\p{Cc}\p{Cs}]/u.test(value),
  )

/** The token of a reset link. */
export const resetToken = text().max(256)

/** Body of signup and login. */
export const signedIn = yup.object({
  user: yup
    .object({ id: yup.string().required(), name: yup.string().required(), email: yup.string().required() })
    .required(),
  accessToken: yup.string().required().meta({ description: 'JWT for `Authorization: Bearer`.' }),
  expiresIn: yup
    .number()
    .integer()
    .required()
    .meta({ description: 'Seconds until the access token expires.' }),
})

/** Body of refresh. */
export const refreshed = yup.object({
  accessToken: yup.string().required(),
  expiresIn: yup.number().integer().required(),
})

/** Body of me: the same fields for every user, and the whole public record. */
export const currentUser = yup.object({
  id: yup.string().required(),
  name: yup.string().required(),
  email: yup.string().required(),
  raw: yup
    .mixed()
    .required()
    .meta({ description: 'The public record, with the columns that the application added.' }),
})

/** Body of the endpoints that have nothing to give but word. */
export const message = yup.object({ message: yup.string().required() })

/** An RFC 9457 problem document, with the occasion for it. */
export const problem = (description: string) =>
  yup
    .object({
      type: yup.string().required(),
      title: yup.string().required(),
      status: yup.number().integer().required(),
      detail: yup.string().required(),
      code: yup.string().required(),
      instance: yup.string().required(),
    })
    .meta({ description })

/** What all limited endpoints answer beyond their limit. */
export const limited = problem('Too many attempts; `Retry-After` says how many seconds to wait.')

/** What the endpoints that act on the refresh cookie answer to a page of another origin. */
export const crossSite = problem('A page of another origin made the browser send the refresh cookie.')

/** No body. */
export const nothing = (description: string) => yup.mixed().meta({ description })

/** For the endpoints that need no body: one that is sent all the same is an object of JSON, and is not looked at. */
export const ignored = yup.object()

/** What every endpoint that reads a body has in common: JSON only, so that no form of another site can send one. */
export const JSON_BODY = { consumes: ['application/json'], bodyLimit: '16kb' } as const
