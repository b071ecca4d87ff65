import { FoundIssue } from '../errors/found-issue.ts'
import { ValidationFailed, type Issue } from '../errors/http-error.ts'
import type { RequestContext } from '../context/request-context.ts'
import { describeRoute, type Route } from '../routing/route.ts'
import type { Schema } from '../schema/schema.ts'
import { compileValidator, type Validator } from '../schema/compile-validator.ts'
import { FAIL } from '../schema/yup/fast-node.ts'
import { shapeOf } from '../schema/text-shape.ts'
import type { TextShape } from '../schema/yup/query-coercion.ts'
import { Invalid } from '../schema/invalid.ts'
import { refuseOddText } from './refuse-odd-text.ts'
import { Refusal, type Inner, type PipelineRuntime, type Step } from './step.ts'

type Location = Issue['location']

interface Input {
  readonly location: Location
  /** True for the schema of an object or an array. */
  readonly isStructured: boolean
  readonly validator: Validator
  readonly read: (ctx: RequestContext) => unknown
  /** False if no string of the input can contain a character that `refuseOddText` refuses. */
  readonly mayBeOdd: (ctx: RequestContext) => boolean
  readonly write: (ctx: RequestContext, value: unknown) => void
}

const INPUTS: { readonly [L in Location]: Pick<Input, 'read' | 'mayBeOdd' | 'write'> } = {
  params: {
    read: (ctx) => ctx.params,
    mayBeOdd: hasEscapedNull,
    write: (ctx, value) => (ctx.params = value),
  },
  query: {
    read: (ctx) => ctx.rawQuery,
    mayBeOdd: hasEscapedNull,
    write: (ctx, value) => (ctx.internal.query = value),
  },
  headers: {
    read: (ctx) => ctx.rawHeaders,
    // Node refuses U+0000 in a header and reads every byte as one character.
    mayBeOdd: () => false,
    write: (ctx, value) => (ctx.internal.headers = value),
  },
  body: {
    read: (ctx) => ctx.body,
    mayBeOdd: (ctx) => !ctx.internal.isBodyPlain,
    write: (ctx, value) => (ctx.body = value),
  },
}

/** A URL has U+0000 only as an escape. Escapes that are not UTF-8 are replaced, so half of a pair is impossible. */
function hasEscapedNull({ url }: RequestContext): boolean {
  return url.includes('%00')
}

/**
 * Validates every declared input. It checks all locations and then refuses the request with at most `maxIssues` issues.
 * Validation stops at the next issue, so that a hostile input costs little.
 */
export function validateInputs(
  route: Route,
  { maxIssues, environment }: Pick<PipelineRuntime, 'maxIssues' | 'environment'>,
): Step | undefined {
  const inputs = (['params', 'query', 'headers', 'body'] as const).flatMap((location): Input[] => {
    const schema = route.definition[location]
    if (!schema) return []
    const isStructured = 'type' in schema && (schema.type === 'object' || schema.type === 'array')
    const validator = compileValidator(schema, location)
    const input = { location, isStructured, validator, ...INPUTS[location] }
    return [environment === 'production' ? input : watched(input, route, schema)]
  })
  if (inputs.length === 0) return undefined
  return (inner) => validating(inputs, maxIssues, inner)
}

function validating(inputs: readonly Input[], maxIssues: number, inner: Inner): Inner {
  return function validate(ctx) {
    const refusal = validateAll(ctx, inputs, maxIssues)
    if (refusal === undefined) return inner(ctx)
    if (refusal instanceof Refusal) return refusal
    return refusal.then(function afterValidate(settled) {
      return settled ?? inner(ctx)
    })
  }
}

/** Returns an input that reports names with brackets when it accepts a query or a form. */
function watched(input: Input, route: Route, schema: Schema): Input {
  const { location, write } = input
  if (location !== 'query' && location !== 'body') return input
  const warn = warnOfBrackets(route, location === 'query' ? 'query parameter' : 'form field', schema)
  return {
    ...input,
    write(ctx, value) {
      const sent = flatNames(ctx, input)
      if (sent !== undefined) warn(ctx, sent)
      write(ctx, value)
    },
  }
}

/** Returns the names and values of a form, or of a query with brackets. In both, a bracket has no meaning. */
function flatNames(ctx: RequestContext, { location, read }: Input): FlatNames | undefined {
  const isFlat = location === 'query' ? BRACKET.test(ctx.url) : location === 'body' && isForm(ctx)
  const sent = isFlat ? read(ctx) : undefined
  return typeof sent === 'object' && sent !== null ? (sent as FlatNames) : undefined
}

const BRACKET = /\[|%5b/i

function isForm(ctx: RequestContext): boolean {
  return /^(?:multipart\/form-data|application\/x-www-form-urlencoded)/i.test(ctx.get('content-type') ?? '')
}

type Verdict = Refusal | undefined

function validateAll(
  ctx: RequestContext,
  inputs: readonly Input[],
  most: number,
): Verdict | Promise<Verdict> {
  let issues: Issue[] | undefined
  let waiting: Promise<Issue[]>[] | undefined
  for (const input of inputs) {
    // One issue more than the limit shows that there are further issues.
    const room = issues === undefined ? most + 1 : most + 1 - issues.length
    if (room <= 0) break
    const value = input.read(ctx)
    const odd = input.mayBeOdd(ctx) ? refuseOddText(value, room) : undefined
    const fast = odd ?? input.validator.run(value)
    const result = fast === FAIL ? input.validator.explain(value, room) : fast
    if (result instanceof Promise) (waiting ??= []).push(result.then((settled) => take(ctx, input, settled)))
    else if (result instanceof Invalid) issues = withIssues(issues, issuesOf(ctx, input, result))
    else input.write(ctx, result)
  }
  if (waiting !== undefined)
    return Promise.all(waiting).then((found) => refuse([...(issues ?? []), ...found.flat()], most))
  return issues && refuse(issues, most)
}

function take(ctx: RequestContext, input: Input, result: unknown): Issue[] {
  if (result instanceof Invalid) return issuesOf(ctx, input, result)
  input.write(ctx, result)
  return []
}

/** A loop: for three issues, `map` took 1 µs longer. */
function issuesOf(ctx: RequestContext, input: Input, { issues }: Invalid): Issue[] {
  const { location, isStructured } = input
  if (location === 'body' && isStructured && isUnparsed(ctx))
    return [{ location, path: '', rule: 'type', message: wrongMediaType(ctx) }]
  const found: Issue[] = []
  const sent = flatNames(ctx, input)
  for (const issue of issues) {
    const hint = sent === undefined ? '' : bracketHint(issue.path, sent)
    found.push(new FoundIssue(location, issue, issue.message + hint))
  }
  return found
}

/** True for a body of text or bytes that was not sent as JSON: JSON sent as `text/plain` is the usual mistake. */
function isUnparsed(ctx: RequestContext): boolean {
  const isRaw = typeof ctx.body === 'string' || ctx.body instanceof Uint8Array
  return isRaw && !/json/i.test(ctx.get('content-type') ?? '')
}

function wrongMediaType(ctx: RequestContext): string {
  const [type] = (ctx.get('content-type') ?? 'text').split(';', 1)
  return `The body was sent as ${type}. Send JSON as application/json.`
}

/** Concatenates the lists: as arguments of `push`, a long list would overflow the stack. */
function withIssues(issues: Issue[] | undefined, found: Issue[]): Issue[] {
  return issues === undefined ? found : issues.concat(found)
}

function refuse(issues: readonly Issue[], most: number): Verdict {
  if (issues.length === 0) return undefined
  if (issues.length <= most) return new Refusal(new ValidationFailed(issues))
  return new Refusal(new ValidationFailed(issues.slice(0, most), { truncated: true }))
}

/** Parameters of a query or fields of a form, as they were sent. */
type FlatNames = Readonly<Record<string, unknown>>

/** Most characters of a sent name in a message. */
const LONGEST_NAME = 60

/**
 * Compiles a warning of names with brackets, such as `ids[]`, where the schema declares `ids`: many clients send lists
 * so, and the value is ignored. Each declared name is reported once.
 */
function warnOfBrackets(route: Route, what: string, schema: Schema) {
  let members: Map<string, TextShape> | undefined
  return (ctx: RequestContext, sent: FlatNames): void => {
    const bracketed = Object.keys(sent).filter((name) => name.includes('['))
    if (bracketed.length === 0) return
    members ??= new Map(shapeOf(schema).members)
    for (const name of bracketed) {
      const declared = name.slice(0, name.indexOf('['))
      const shape = members.get(declared)
      if (shape === undefined || members.has(name)) continue
      members.delete(declared)
      ctx.log.warn(
        `${describeRoute(route)} ignores the ${what} '${shortened(name)}': brackets are part of a name, and the schema ` +
          `declares '${declared}'. ${remedyOf(declared, name, shape)}`,
      )
    }
  }
}

function remedyOf(declared: string, name: string, { kind }: TextShape): string {
  if (kind === 'object') return `Declare '${shortened(name)}', or send another name.`
  if (kind !== 'list') return `Send ${declared}=….`
  const send = `Send ${repeated(declared)}`
  return name === `${declared}[]` ? `${send}, or declare '${name}'.` : `${send}.`
}

/** Returns the sentence that completes the message of an issue if its name was sent with brackets, else ''. */
function bracketHint(path: string, sent: FlatNames): string {
  if (Object.hasOwn(sent, path)) return ''
  const name = Object.keys(sent).find((key) => key.startsWith(`${path}[`))
  return name === undefined ? '' : `. The request has '${shortened(name)}' instead: send ${repeated(path)}.`
}

function repeated(name: string): string {
  return `${name}=1&${name}=2`
}

function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name
}
