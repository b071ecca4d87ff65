import { ValidationFailed, type Issue } from '../errors/http-error.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { Route } from '../routing/route.ts'
import { compileValidator, type Validator } from '../schema/compile-validator.ts'
import { Invalid } from '../schema/invalid.ts'
import type { Step } from './step.ts'

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
  let issues: Issue[] | undefined
  let waiting: Promise<Issue[]>[] | undefined
  for (const input of inputs) {
    const result = input.validator.validate(input.read(ctx))
    if (result instanceof Promise) (waiting ??= []).push(result.then((settled) => take(ctx, input, settled)))
    else if (result instanceof Invalid) (issues ??= []).push(...issuesOf(input, result))
    else input.write(ctx, result)
  }
  if (waiting !== undefined)
    return Promise.all(waiting).then((found) => refuse([...(issues ?? []), ...found.flat()]))
  if (issues !== undefined) refuse(issues)
}

function take(ctx: RequestContext, input: Input, result: unknown): Issue[] {
  if (result instanceof Invalid) return issuesOf(input, result)
  input.write(ctx, result)
  return []
}

function issuesOf({ location }: Input, { issues }: Invalid): Issue[] {
  return issues.map((issue) => ({ location, ...issue }))
}

function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw new ValidationFailed(issues)
}
