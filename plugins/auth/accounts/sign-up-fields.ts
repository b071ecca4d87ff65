import type { StartupError } from 'mortar'
import type { AnyObjectSchema } from 'mortar/yup'
import { FRAMEWORK_FIELDS } from './private-fields.ts'
import { fault } from '../startup-codes.ts'

/** Names of privileges, which a user must not choose. */
const PRIVILEGE =
  /^(?:is|has|can)?_?(?:admin|administrator|superuser|staff|role|permission|privilege|scope|group)s?$/i
const TAKEN: ReadonlySet<string> = new Set([...FRAMEWORK_FIELDS, '_id', 'password'])

/**
 * Checks the option `signUpFields`.
 * @returns the names of its fields.
 * @throws StartupError `MORTAR_AUTH_OPTION` for a value that is not an object schema, a field of the framework, and a
 * privilege.
 */
export function signUpFieldNames(schema: AnyObjectSchema | undefined): readonly string[] {
  if (schema === undefined) return []
  // A caller in JavaScript may pass any object.
  const { fields } = schema as { readonly fields?: unknown }
  if (typeof fields !== 'object' || fields === null)
    throw refusal('is not an object schema', 'Write yup.object({ … }) of mortar/yup.')
  const names = Object.keys(fields)
  const taken = names.find((name) => TAKEN.has(name) || /^auth_|^\$|\./.test(name))
  if (taken !== undefined)
    throw refusal(`has '${taken}', which is a field of the framework`, 'Use another name.')
  const privilege = names.find((name) => PRIVILEGE.test(name))
  if (privilege !== undefined)
    throw refusal(
      `has '${privilege}', which users must not choose themselves`,
      'Remove it, and set it in code of the application, such as createUser({ …, fields }).',
    )
  return names
}

/**
 * Checks that the fields are stored and public.
 * @throws StartupError `MORTAR_AUTH_OPTION` naming a field that is not among `known`.
 */
export function checkSignUpFields(names: readonly string[], known: readonly string[], place: string): void {
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw refusal(`has '${unknown}', which is not ${place}`, `Make it ${place}, or remove it.`)
}

/** @throws TypeError for a field of the framework, which code must not set. */
export function checkOwnFields(fields: Readonly<Record<string, unknown>> = {}): void {
  const taken = Object.keys(fields).find((name) => TAKEN.has(name))
  if (taken !== undefined) throw new TypeError(`fields has '${taken}', which is a field of the framework.`)
}

function refusal(found: string, remedy: string): StartupError {
  return fault('MORTAR_AUTH_OPTION', `The option signUpFields ${found}.`, { remedy })
}
