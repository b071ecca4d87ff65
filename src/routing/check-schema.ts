import { isStandard } from '../schema/validate-standard.ts'
import { isYup } from '../compat/yup.ts'
import { describeValue, isPlainObject } from '../support/describe-value.ts'
import type { Finding } from './finding.ts'

/** True for a yup schema or any Standard Schema validator. */
export function isSchema(value: unknown): boolean {
  return isYup(value) || isStandard(value)
}

/** The finding for a value that is not a schema, where `key` expects one. */
export function checkSchema(key: string, value: unknown): Finding[] {
  if (isSchema(value)) return []
  const holdsSchemas = isPlainObject(value) && Object.values(value).some(isSchema)
  return [
    {
      code: 'MORTAR_ROUTE_SCHEMA',
      found: `has ${describeValue(value)} as \`${key}\`, which is not a schema`,
      remedy: holdsSchemas
        ? "Wrap it in yup's object({ … })."
        : `Use a yup schema or another Standard Schema validator for \`${key}\`, or remove it.`,
    },
  ]
}
