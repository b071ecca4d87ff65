import { ValidationFailed, type Issue } from '../errors/http-error.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { Route } from '../routing/route.ts'
import { compileValidator, type Validator } from '../schema/compile-validator.ts'
import { Invalid } from '../schema/invalid.ts'
import type { Step } from './step.ts'
import { isThenable } from './thenable.ts'

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

/** Validates every declared input; all locations are checked before the request fails with every issue found. */
export function validateSteps(route: Route): Step[] {
  const inputs = (['params', 'query', 'headers', 'body'] as const).flatMap((location): Input[] => {
    const schema = route.definition[location]
    return schema ? [{ location, validator: compileValidator(schema, location), ...INPUTS[location] }] : []
  })
  return inputs.length === 0 ? [] : [(ctx) => validateAll(ctx, inputs)]
}

function validateAll(ctx: RequestContext, inputs: readonly Input[]): void | Promise<void> {
  const issues: Issue[] = []
  const waiting: PromiseLike<void>[] = []
  for (const input of inputs) {
    const result = input.validator.validate(input.read(ctx))
    if (isThenable(result)) waiting.push(result.then((settled) => take(ctx, input, settled, issues)))
    else take(ctx, input, result, issues)
  }
  if (waiting.length > 0) return Promise.all(waiting).then(() => refuse(issues))
  refuse(issues)
}

function take(ctx: RequestContext, input: Input, result: unknown, issues: Issue[]): void {
  if (result instanceof Invalid)
    for (const issue of result.issues) issues.push({ location: input.location, ...issue })
  else input.write(ctx, result)
}

function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw new ValidationFailed(issues)
}
