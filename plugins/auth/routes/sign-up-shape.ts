import type { AnyObjectSchema, InferType } from 'mortar/yup'
import { displayName } from '../accounts/display-name.ts'
import type { NewAccount } from '../flows/proof.ts'
import { canonicalEmail } from '../accounts/canonical-email.ts'
import { signUpBody } from './shapes.ts'

/** Body of signup with the fields of the application, and the account that it describes. */
export interface SignUpShape {
  readonly body: typeof signUpBody
  accountOf(body: InferType<typeof signUpBody>): NewAccount
}

/** Creates the shape of signup for the option `signUpFields`. */
export function signUpShape(fields?: AnyObjectSchema): SignUpShape {
  const names = Object.keys(fields?.fields ?? {})
  return {
    // The added fields are the application's, and no code here names them.
    body: fields === undefined ? signUpBody : (signUpBody.concat(fields) as unknown as typeof signUpBody),
    accountOf(body) {
      const { name, email, password } = body
      const given: Readonly<Record<string, unknown>> = body
      const own = names.filter((each) => given[each] !== undefined).map((each) => [each, given[each]])
      // Validation has checked both with the same functions.
      return {
        name: displayName(name)!,
        email: canonicalEmail(email)!,
        password,
        fields: Object.fromEntries(own),
      }
    },
  }
}
