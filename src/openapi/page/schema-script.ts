/** Script of the documentation page, part 2: JSON Schema as a tree of keys, and as an example value. */
export const SCHEMA_SCRIPT = String.raw`
const DEEPEST = 8
let api = {}

/** Follows a local reference. Returns anything else unchanged. */
function resolve(schema) {
  if (!schema || typeof schema.$ref !== 'string' || !schema.$ref.startsWith('#/')) return schema || {}
  const parts = schema.$ref.slice(2).split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const target = parts.reduce((value, part) => (value && Object.hasOwn(value, part) ? value[part] : undefined), api)
  const { $ref, ...beside } = schema
  return { ...target, ...beside }
}

/** Merges a schema and its allOf parts into one object schema. */
function flatten(given, depth = 0) {
  const schema = resolve(given)
  if (!Array.isArray(schema.allOf) || depth > DEEPEST) return schema
  const parts = [...schema.allOf.map((part) => flatten(part, depth + 1)), schema]
  return {
    ...Object.assign({}, ...parts),
    properties: Object.assign({}, ...parts.map((part) => part.properties)),
    required: parts.flatMap((part) => part.required || []),
  }
}

const BOUNDS = [
  ['minimum', '≥'], ['exclusiveMinimum', '>'], ['maximum', '≤'], ['exclusiveMaximum', '<'], ['multipleOf', 'multiple of'],
  ['minLength', 'length ≥'], ['maxLength', 'length ≤'], ['minItems', 'items ≥'], ['maxItems', 'items ≤'], ['pattern', 'pattern'],
]

/** The type in words: "string (email)", "integer or null", "array of string". */
function typeOf(given) {
  const schema = flatten(given)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const options = schema.oneOf || schema.anyOf
  if (options) return options.map(typeOf).join(' or ')
  const types = [schema.type || (schema.properties ? 'object' : 'any')].flat()
  const words = types.map((type) => (type === 'array' && schema.items ? 'array of ' + typeOf(schema.items) : type)).join(' or ')
  return schema.format ? words + ' (' + schema.format + ')' : words
}

/** Bounds and default, in words. */
function limitsOf(given) {
  const schema = flatten(given)
  const bounds = BOUNDS.filter(([key]) => schema[key] !== undefined).map(([key, sign]) => sign + ' ' + schema[key])
  return schema.default === undefined ? bounds : [...bounds, 'default ' + JSON.stringify(schema.default)]
}

/** The keys of an object, of the items of an array, or of the options of a union, as nested lists. */
function schemaTree(given, depth = 0) {
  const schema = flatten(given)
  if (depth > DEEPEST) return make('p', { class: 'muted' }, '…')
  const options = schema.oneOf || schema.anyOf
  if (options) return make('div', null, ...options.map((option) => schemaTree(option, depth + 1)))
  if (schema.items) return schemaTree(schema.items, depth + 1)
  const required = new Set(schema.required || [])
  const keys = Object.entries(schema.properties || {})
  if (keys.length === 0) return null
  return make('ul', { class: 'schema' }, ...keys.map(([name, value]) => make('li', null,
    make('code', { class: 'name' }, name), ' ',
    make('span', { class: 'type' }, typeOf(value)), ' ',
    required.has(name) && make('span', { class: 'required' }, 'required'), ' ',
    make('span', { class: 'muted' }, limitsOf(value).join(', ')),
    flatten(value).description ? prose(flatten(value).description) : null,
    schemaTree(value, depth + 1))))
}

const TEXTS = {
  email: 'user@example.com', uuid: '3fa85f64-5717-4562-b3fc-2c963f66afa6', uri: 'https://example.com',
  date: '2026-01-31', 'date-time': '2026-01-31T12:00:00.000Z', time: '12:00:00Z', ipv4: '192.0.2.1', ipv6: '2001:db8::1',
}

/** Makes an example value that fits the schema's keywords. */
function exampleOf(given, depth = 0) {
  const schema = flatten(given)
  const [first] = Array.isArray(schema.examples) ? schema.examples : []
  const told = [schema.example, first, schema.default, schema.const, (schema.enum || [])[0]].find((value) => value !== undefined)
  if (told !== undefined) return told
  if (depth > DEEPEST) return null
  const options = schema.oneOf || schema.anyOf
  if (options) return exampleOf(options.find((option) => option.type !== 'null') || options[0], depth + 1)
  const type = [schema.type || (schema.properties ? 'object' : undefined)].flat().find((name) => name !== 'null')
  if (type === 'object')
    return Object.fromEntries(Object.entries(schema.properties || {}).map(([name, value]) => [name, exampleOf(value, depth + 1)]))
  if (type === 'array') return schema.items ? [exampleOf(schema.items, depth + 1)] : []
  if (type === 'string') return TEXTS[schema.format] || 'text'.padEnd(schema.minLength || 0, 'x').slice(0, schema.maxLength)
  if (type === 'integer' || type === 'number') return numberIn(schema)
  return type === 'boolean' ? true : null
}

function numberIn(schema) {
  if (schema.minimum !== undefined) return schema.minimum
  if (schema.exclusiveMinimum !== undefined) return schema.exclusiveMinimum + 1
  if (schema.maximum !== undefined) return Math.min(1, schema.maximum)
  return schema.exclusiveMaximum === undefined ? 1 : Math.min(1, schema.exclusiveMaximum - 1)
}
`
