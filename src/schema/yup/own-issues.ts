import { printValue, ValidationError } from 'yup'
import { issueAt, type SchemaIssue } from '../invalid.ts'
import { ownTests } from './known.ts'
import { showable } from './showable.ts'
import type { YupNode, YupTest } from './yup-node.ts'

/** A cast value, what it was before the cast, and its path. */
export interface Place {
  readonly value: unknown
  readonly original: unknown
  readonly path: string
}

type AddIssues = (place: Place, issues: SchemaIssue[]) => void
type Params = Readonly<Record<string, unknown>>

/** Runs a plain schema's own tests on a cast value and adds their issues, in yup's order and wording. */
export function ownIssuesOf(schema: YupNode): AddIssues {
  const first = ownTests(schema).map((test) => issueOf(schema, test))
  const then = schema.tests.map((test) => issueOf(schema, test))
  return (place, issues) => {
    const before = issues.length
    for (const add of first) add(place, issues)
    if (issues.length > before) return
    for (const add of then) add(place, issues)
  }
}

function issueOf(schema: YupNode, { OPTIONS }: YupTest): AddIssues {
  // What yup's own tests use of a test context. `createError` only carries the parameters out.
  const context = { schema, resolve: (item: unknown) => item, createError: (overrides: object) => overrides }
  return (place, issues) => {
    if (OPTIONS.skipAbsent && (place.value === undefined || place.value === null)) return
    const result = OPTIONS.test.call(context, place.value, context)
    if (result === true) return
    const params = result as { params?: Params } | false
    const text = wording(OPTIONS.message, schema, place, { ...OPTIONS.params, ...(params && params.params) })
    issues.push(issueAt(place.path, text))
  }
}

const PLACEHOLDER = /\$\{\s*(\w+)\s*\}/g

/** The message with its parameters, as `ValidationError.formatError` words it. */
function wording(message: unknown, schema: YupNode, place: Place, extra: Params): unknown {
  const { label } = schema.spec
  const params: Params = {
    value: showable(place.value),
    originalValue: place.original === place.value ? showable(place.value) : showable(place.original),
    label,
    path: place.path,
    originalPath: place.path,
    spec: schema.spec,
    disableStackTrace: schema.spec.disableStackTrace,
    ...extra,
  }
  if (typeof message !== 'string') return ValidationError.formatError(message, params)
  return message.replace(PLACEHOLDER, (_, key: string) =>
    key === 'path' ? label || place.path || 'this' : printValue(params[key]),
  )
}
