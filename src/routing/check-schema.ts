import type { StandardLike } from '../schema/schema.ts'
import { isStandard } from '../schema/validate-standard.ts'
import { isRef, isYup } from '../compat/yup.ts'
import { describeValue, isClass, isPlainObject } from '../support/describe-value.ts'
import type { Finding } from './finding.ts'

/** True for a yup schema or any Standard Schema validator. */
export function isSchema(value: unknown): boolean {
  return isYup(value) || isStandard(value)
}

/** Schemas of one value that are checked: a function in a zod getter may make new schemas without end. */
const MOST_SCHEMAS = 1000

/**
 * The findings for a value, and for members of an object, array or tuple schema, that are not schemas. Outer members are
 * checked first, and each schema once: a recursive schema contains itself.
 */
export function checkSchema(key: string, value: unknown): Finding[] {
  const findings: Finding[] = []
  const checked = new Set<unknown>()
  const members: Member[] = [[key, value]]
  for (const [place, member] of members) {
    if (!isSchema(member)) findings.push(notASchema(place, member))
    else if (!checked.has(member) && checked.size < MOST_SCHEMAS) {
      checked.add(member)
      members.push(...membersOf(member as object, place))
    }
  }
  return findings
}

type Member = readonly [name: string, value: unknown]

/** Returns the members of a schema of yup or zod, which keep any value as a member. Other libraries check it themselves. */
function membersOf(schema: object, place: string): Member[] {
  return declaredIn(schema)
    .filter(([, member]) => !isRef(member))
    .map(([name, member]): Member => [place + name, member])
}

function declaredIn(schema: object): Member[] {
  if (!isYup(schema))
    return (schema as StandardLike)['~standard'].vendor === 'zod' ? membersOfZod(schema) : []
  const { fields, innerType, spec } = schema
  if (Array.isArray(spec.types)) return spec.types.map((item, index): Member => [`[${index}]`, item])
  return [...fieldsOf(fields), ...itemsOf(innerType)]
}

function membersOfZod({ shape, element }: { readonly shape?: object; readonly element?: unknown }): Member[] {
  return [...fieldsOf(shape), ...itemsOf(element)]
}

function fieldsOf(fields: object = {}): Member[] {
  return Object.entries(fields).map(([name, field]): Member => [`.${name}`, field])
}

function itemsOf(item: unknown): Member[] {
  return item === undefined ? [] : [['[]', item]]
}

function notASchema(place: string, value: unknown): Finding {
  return {
    code: 'MORTAR_ROUTE_SCHEMA',
    found: `has ${describeValue(value)} as \`${place}\`, which is not a schema`,
    remedy: remedyFor(place, value),
  }
}

function remedyFor(place: string, value: unknown): string {
  if (typeof value === 'function' && !isClass(value)) return `Call it: ${builderName(value)}().`
  return isPlainObject(value) && Object.values(value).some(isSchema)
    ? "Wrap it in yup's object({ … })."
    : `Use a yup schema or another Standard Schema validator for \`${place}\`, or remove it.`
}

/** Returns `string` for yup's `string`: its own name differs, and its prototype is the one of `StringSchema`. */
function builderName(builder: { readonly name: string; readonly prototype?: object }): string {
  const { name } = builder.prototype?.constructor ?? builder
  const short = name.replace(/Schema$/, '') || 'schema'
  return short.charAt(0).toLowerCase() + short.slice(1)
}
