import { isRecord } from '../compat/yup.ts'
import {
  ANNOTATIONS,
  type DescriptionPlace,
  type Direction,
  type JsonSchema,
  type LabelledSchema,
} from './json-schema-parts.ts'
import { isStandard } from './validate-standard.ts'

/** The Standard JSON Schema interface (https://standardschema.dev/json-schema). */
interface JsonSchemaSource {
  readonly jsonSchema?: Readonly<Record<Direction, (options: object) => JsonSchema>>
}

/** Options of zod and valibot, which refuse a whole schema for one part that has no JSON form. */
const LIBRARY_OPTIONS = { unrepresentable: 'any', errorMode: 'ignore' }

/** Options for readers to whom an array inside such a part of valibot matters. */
export const WITHOUT_GAPS: typeof LIBRARY_OPTIONS = { ...LIBRARY_OPTIONS, errorMode: 'throw' }

/** A conversion of the description that a library gave. */
interface Conversion {
  readonly schema: object
  /** The whole description, which references point into. */
  readonly root: JsonSchema
  /** True for a place whose input form has no other keys, such as a `strictObject` of zod. */
  readonly isClosed: (at: string) => boolean
  /** References on the current path, so that a recursive schema ends. */
  readonly open: readonly string[]
  readonly place: DescriptionPlace
}

/** Describes a schema by its own library. If the document has components, definitions and titles become references. */
export function jsonSchemaOfStandard(
  schema: unknown,
  place: DescriptionPlace,
  isRootInline = false,
): JsonSchema {
  const root = describedBy(schema, place.direction)
  if (root === undefined) {
    place.onOmission('', 'its library does not describe schemas (Standard JSON Schema)')
    return {}
  }
  const given: Conversion = {
    schema: schema as object,
    root,
    isClosed: closedInputs(schema),
    open: [],
    place,
  }
  if (!isRootInline) return convert(root, '', given)
  const at = typeof root.$ref === 'string' ? root.$ref.slice(1) : ''
  return converted(nodeAt(root, at) ?? {}, at, given)
}

/** Marks a part of `inputOfStandard` that its library does not describe: the whole schema, or the inside of a recursion. */
export const UNDESCRIBED: unique symbol = Symbol('undescribed')

/** Returns the description of the values that a schema accepts; only marked if its library has none. Never throws. */
export function inputOfStandard(schema: unknown, options = LIBRARY_OPTIONS): JsonSchema {
  const place: DescriptionPlace = { direction: 'input', onOmission: () => undefined, path: '' }
  try {
    if (describedBy(schema, 'input', options) === undefined) return { [UNDESCRIBED]: true }
    return jsonSchemaOfStandard(schema, place)
  } catch {
    return { [UNDESCRIBED]: true }
  }
}

/** Returns the test for closed places of the input form, which is described when the first place is tested. */
function closedInputs(schema: unknown): (at: string) => boolean {
  let input: JsonSchema | undefined
  return (at) => {
    try {
      input ??= describedBy(schema, 'input') ?? {}
    } catch {
      input = {}
    }
    return nodeAt(input, at)?.additionalProperties === false
  }
}

function describedBy(
  schema: unknown,
  direction: Direction,
  libraryOptions = LIBRARY_OPTIONS,
): JsonSchema | undefined {
  const source = isStandard(schema) ? (schema['~standard'] as JsonSchemaSource).jsonSchema : undefined
  return source?.[direction]({ target: 'draft-2020-12', libraryOptions })
}

/** Converts the schema at a JSON Pointer of the description; one with a label becomes a reference. */
function convert(node: JsonSchema, at: string, given: Conversion): JsonSchema {
  const label = labelOf(node, at)
  const { refer, direction, onOmission } = given.place
  if (label === undefined || refer === undefined) return converted(node, at, given)
  const reference = refer(labelledAt(label, at, given), direction, onOmission)
  return 'default' in node ? { ...reference, default: node.default } : reference
}

const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas'])
const LEFT_OUT = new Set(['$ref', '$schema', '$defs'])

/**
 * Copies a schema with its parts: inside a document, `#/$defs/…` would point into the document. Zod closes the output of
 * every object, because it drops other keys. Without that, input and output of most schemas are one component, and a
 * client accepts a response with a key that is new.
 */
function converted(node: JsonSchema, at: string, given: Conversion): JsonSchema {
  const isOpened =
    given.place.direction === 'output' && node.additionalProperties === false && !given.isClosed(at)
  const members = Object.entries(node).flatMap(([key, value]) => {
    if (LEFT_OUT.has(key) || (isOpened && key === 'additionalProperties')) return []
    return [[key, convertKeyword(key, value, `${at}/${key}`, given)] as const]
  })
  const { $ref: reference } = node
  const target = typeof reference === 'string' ? resolved(reference, given) : {}
  return { ...target, ...Object.fromEntries(members) }
}

const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const PARTS = new Set([
  'items',
  'additionalProperties',
  'not',
  'propertyNames',
  'contains',
  'if',
  'then',
  'else',
])

function convertKeyword(key: string, value: unknown, at: string, given: Conversion): unknown {
  const part = (one: unknown, name: string | number): unknown =>
    isRecord(one) ? convert(one, `${at}/${escaped(String(name))}`, given) : one
  if (MAPS.has(key) && isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, part(one, name)]))
  if (LISTS.has(key) && Array.isArray(value)) return value.map(part)
  return PARTS.has(key) && isRecord(value) ? convert(value, at, given) : value
}

function resolved(reference: string, given: Conversion): JsonSchema {
  const at = reference.slice(1)
  const target = nodeAt(given.root, at) ?? {}
  if (given.place.refer !== undefined && labelOf(target, at) !== undefined) return convert(target, at, given)
  if (!given.open.includes(reference))
    return converted(target, at, { ...given, open: [...given.open, reference] })
  given.place.onOmission('', `it refers to itself (${reference}), which is shown as anything`)
  return { [UNDESCRIBED]: true }
}

/** The name of a definition, unless its library made it up, or the title of an object or of a list of values. */
function labelOf(node: JsonSchema, at: string): string | undefined {
  const name = /^\/\$defs\/([^/]+)$/.exec(at)?.[1]
  if (name !== undefined && !name.startsWith('__')) return unescaped(name)
  const isNamed = node.type === 'object' || Array.isArray(node.enum)
  return isNamed && typeof node.title === 'string' ? node.title : undefined
}

function labelledAt(label: string, at: string, given: Conversion): LabelledSchema {
  const { schema } = given
  const isAnnotation = ([key]: readonly [string, unknown]): boolean => ANNOTATIONS.includes(key)
  return {
    label,
    identity: { schema, part: at },
    annotations: Object.fromEntries(Object.entries(nodeAt(given.root, at) ?? {}).filter(isAnnotation)),
    describe(direction, onOmission, refer) {
      const root = describedBy(schema, direction) ?? {}
      const { title: _, default: _default, ...node } = nodeAt(root, at) ?? {}
      const core = Object.fromEntries(Object.entries(node).filter((entry) => !isAnnotation(entry)))
      return converted(core, at, {
        schema,
        root,
        isClosed: closedInputs(schema),
        open: [],
        place: { direction, onOmission, path: '', refer },
      })
    },
  }
}

/** Resolves a JSON Pointer (RFC 6901). */
function nodeAt(root: JsonSchema, at: string): JsonSchema | undefined {
  let node: unknown = root
  for (const step of at.split('/').slice(1))
    node = typeof node === 'object' && node !== null ? (node as JsonSchema)[unescaped(step)] : undefined
  return isRecord(node) ? node : undefined
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}
