import type { DescriptionPlace, Keywords } from '../json-schema-parts.ts'
import { isKnownTest } from '../../compat/yup-functions.ts'
import type { YupNode } from '../../compat/yup.ts'

type Params = Readonly<Record<string, unknown>>
type Add = (keywords: Keywords, params: Params) => void

/** Adds the keywords for a yup schema's tests; a test without a keyword is reported. */
export function addConstraints(schema: YupNode, keywords: Keywords, place: DescriptionPlace): void {
  for (const test of schema.tests) {
    const { name = 'test', params = {} } = test.OPTIONS
    if (!isKnownTest(test)) place.onOmission(place.path, `its test '${name}' is not shown`)
    else if (params.regex instanceof RegExp) addExpression(name, params.regex, keywords, place)
    else {
      const add = CONSTRAINTS[schema.type]?.[name]
      if (add) add(keywords, params)
      else if (!SILENT.includes(name)) place.onOmission(place.path, `its test '${name}' is not shown`)
    }
  }
}

/** Tests without an effect on the description, or that are described elsewhere. */
const SILENT = ['trim', 'string_case', 'datetime_offset', 'datetime_precision', 'noUnknown', 'exact']

const LIST: Readonly<Record<string, Add>> = {
  min: (keywords, { min }) => atLeast(keywords, 'minItems', min),
  max: (keywords, { max }) => atMost(keywords, 'maxItems', max),
  length: (keywords, { length }) => {
    atLeast(keywords, 'minItems', length)
    atMost(keywords, 'maxItems', length)
  },
}

const CONSTRAINTS: Readonly<Record<string, Readonly<Record<string, Add>>>> = {
  string: {
    required: (keywords) => atLeast(keywords, 'minLength', 1),
    min: (keywords, { min }) => atLeast(keywords, 'minLength', min),
    max: (keywords, { max }) => atMost(keywords, 'maxLength', max),
    length: (keywords, { length }) => {
      atLeast(keywords, 'minLength', length)
      atMost(keywords, 'maxLength', length)
    },
  },
  number: {
    integer: (keywords) => (keywords.type = 'integer'),
    min: (keywords, { min, more }) =>
      more === undefined ? atLeast(keywords, 'minimum', min) : atLeast(keywords, 'exclusiveMinimum', more),
    max: (keywords, { max, less }) =>
      less === undefined ? atMost(keywords, 'maximum', max) : atMost(keywords, 'exclusiveMaximum', less),
  },
  boolean: { 'is-value': (keywords, { value }) => (keywords.const = value === 'true') },
  array: LIST,
  date: { min: () => undefined, max: () => undefined },
}

function atLeast(keywords: Keywords, keyword: string, value: unknown): void {
  if (typeof value !== 'number') return
  const before = keywords[keyword]
  keywords[keyword] = typeof before === 'number' ? Math.max(before, value) : value
}

function atMost(keywords: Keywords, keyword: string, value: unknown): void {
  if (typeof value !== 'number') return
  const before = keywords[keyword]
  keywords[keyword] = typeof before === 'number' ? Math.min(before, value) : value
}

/** Formats of yup's own expressions, by the name of their test. */
const FORMATS: Readonly<Record<string, string>> = {
  email: 'email',
  url: 'uri',
  uuid: 'uuid',
  datetime: 'date-time',
}

function addExpression(name: string, regex: RegExp, keywords: Keywords, place: DescriptionPlace): void {
  const format = FORMATS[name]
  if (format !== undefined) {
    keywords.format = format
    return
  }
  // A JSON Schema pattern has no flags; `i`, `m` and `s` would change its meaning.
  if (/[ims]/.test(regex.flags)) {
    place.onOmission(place.path, `its expression has flags (${regex.flags}), which a pattern cannot have`)
    return
  }
  if (keywords.pattern === undefined) keywords.pattern = regex.source
  else keywords.allOf = [...((keywords.allOf as unknown[] | undefined) ?? []), { pattern: regex.source }]
}
