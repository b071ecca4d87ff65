import { ValidationFailed, type Issue } from '../errors/http-error.ts'
import { stackless } from '../errors/stackless.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { Route } from '../routing/route.ts'
import { compileValidator, type Validator } from '../schema/compile-validator.ts'
import { Invalid } from '../schema/invalid.ts'
import type { PipelineRuntime, Step } from './step.ts'

type Location = Issue['location']

interface Input {
  readonly location: Location
  readonly validator: Validator
  readonly read: (ctx: RequestContext) => unknown
  readonly write: (ctx: RequestContext, value: unknown) => void
}

const INPUTS: { readonly [L in Location]: Pick<Input, 'read' | 'write'> } = {
  params: { read: (ctx) => ctx.params, write: (ctx, value) => (ctx.params = value) },
  query: { read: (ctx) => ctx.rawQuery, write: (ctx, value) => (ctx.internal.query = value) },
  headers: { read: (ctx) => ctx.rawHeaders, write: (ctx, value) => (ctx.internal.headers = value) },
  body: { read: (ctx) => ctx.body, write: (ctx, value) => (ctx.body = value) },
}

/**
 * Validates every declared input. It checks all locations and then refuses the request with at most `maxIssues` issues.
 * Validation stops at the next issue, so that a hostile input costs little.
 */
export function validateInputs(
  route: Route,
  { maxIssues }: Pick<PipelineRuntime, 'maxIssues'>,
): Step | undefined {
  const inputs = (['params', 'query', 'headers', 'body'] as const).flatMap((location): Input[] => {
    const schema = route.definition[location]
    return schema ? [{ location, validator: compileValidator(schema, location), ...INPUTS[location] }] : []
  })
  if (inputs.length === 0) return undefined
  return (inner) =>
    function validate(ctx) {
      const waiting = validateAll(ctx, inputs, maxIssues)
      if (waiting === undefined) return inner(ctx)
      return waiting.then(function afterValidate() {
        return inner(ctx)
      })
    }
}

function validateAll(ctx: RequestContext, inputs: readonly Input[], most: number): void | Promise<void> {
  let issues: Issue[] | undefined
  let waiting: Promise<Issue[]>[] | undefined
  for (const input of inputs) {
    // One issue more than the limit shows that there are further issues.
    const room = issues === undefined ? most + 1 : most + 1 - issues.length
    if (room <= 0) break
    const result = input.validator.validate(input.read(ctx), room)
    if (result instanceof Promise) (waiting ??= []).push(result.then((settled) => take(ctx, input, settled)))
    else if (result instanceof Invalid) issues = withIssues(issues, input, result)
    else input.write(ctx, result)
  }
  if (waiting !== undefined)
    return Promise.all(waiting).then((found) => refuse([...(issues ?? []), ...found.flat()], most))
  if (issues !== undefined) refuse(issues, most)
}

function take(ctx: RequestContext, input: Input, result: unknown): Issue[] {
  if (result instanceof Invalid) return issuesOf(input, result)
  input.write(ctx, result)
  return []
}

function issuesOf({ location }: Input, { issues }: Invalid): Issue[] {
  return issues.map(({ path, message }) => ({ location, path, message }))
}

/** Concatenates the lists: as arguments of `push`, a long list would overflow the stack. */
function withIssues(issues: Issue[] | undefined, input: Input, invalid: Invalid): Issue[] {
  const found = issuesOf(input, invalid)
  return issues === undefined ? found : issues.concat(found)
}

function refuse(issues: readonly Issue[], most: number): void {
  if (issues.length > most) throw stackless(ValidationFailed, issues.slice(0, most), { truncated: true })
  if (issues.length > 0) throw stackless(ValidationFailed, issues)
}
