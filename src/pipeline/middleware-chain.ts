import { publicContext } from '../context/request-context.ts'
import type { NamedMiddleware } from '../routing/route.ts'
import { isThenable } from '../support/thenable.ts'
import { isFromKoa, wrapInKoa } from './from-koa.ts'
import { InnerCall } from './inner-call.ts'
import type { NotAwaited, PipelineRuntime, Step } from './step.ts'

/**
 * Compiles the middleware of a route into steps, outermost first. `next()` resolves to the inner value. A return value
 * other than undefined replaces it for outer middleware. Without a call of `next()` the inner steps are skipped.
 * Adjacent Koa middleware is one step.
 */
export function runMiddleware(
  chain: readonly NamedMiddleware[],
  { environment }: Pick<PipelineRuntime, 'environment'>,
): Step[] {
  const onNotAwaited = environment === 'production' ? 'log' : 'throw'
  const steps: Step[] = []
  for (let from = 0, to = 0; from < chain.length; from = to) {
    to = endOfGroup(chain, from)
    const group = chain.slice(from, to)
    steps.push(
      isFromKoa(group[0]!)
        ? (inner) => wrapInKoa(group, inner, { onNotAwaited, isOutermost: from === 0 })
        : wrapIn(group[0]!, onNotAwaited),
    )
  }
  return steps
}

/** Returns the index after a group of Koa middleware, or after one other middleware. */
function endOfGroup(chain: readonly NamedMiddleware[], from: number): number {
  let to = from + 1
  if (isFromKoa(chain[from]!)) while (to < chain.length && isFromKoa(chain[to]!)) to++
  return to
}

function wrapIn(scope: NamedMiddleware, onNotAwaited: NotAwaited): Step {
  return (inner) =>
    function middleware(ctx) {
      const call = new InnerCall(inner, ctx, scope)
      const value: unknown = scope.run(publicContext(ctx), (error?: unknown) => call.start(error))
      if (!isThenable(value)) return value === undefined ? call.value(onNotAwaited) : value
      return value.then((settled) => (settled === undefined ? call.value(onNotAwaited) : settled))
    }
}
