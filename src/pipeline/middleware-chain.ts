import { publicContext } from '../context/request-context.ts'
import type { NamedMiddleware } from '../routing/route.ts'
import { isThenable } from '../support/thenable.ts'
import { InnerCall } from './inner-call.ts'
import { WRAP, type NotAwaited, type PipelineRuntime, type Step, type Wrap } from './step.ts'

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
    const wrap = wrapOf(group[0]!)
    steps.push(
      wrap === undefined
        ? wrapIn(group[0]!, onNotAwaited)
        : (inner) => wrap(group, inner, { onNotAwaited, isOutermost: from === 0 }),
    )
  }
  return steps
}

/** Returns the index after a group of Koa middleware, or after one other middleware. */
function endOfGroup(chain: readonly NamedMiddleware[], from: number): number {
  const wrap = wrapOf(chain[from]!)
  let to = from + 1
  if (wrap !== undefined) while (to < chain.length && wrapOf(chain[to]!) === wrap) to++
  return to
}

function wrapOf({ run }: NamedMiddleware): Wrap | undefined {
  return (run as { readonly [WRAP]?: Wrap })[WRAP]
}

function wrapIn(scope: NamedMiddleware, onNotAwaited: NotAwaited): Step {
  return (inner) =>
    function middleware(ctx) {
      const call = new InnerCall(inner, ctx, scope)
      const value: unknown = scope.run(publicContext(ctx), (error?: unknown) => call.start(error))
      if (!isThenable(value)) return value === undefined ? call.value(onNotAwaited) : value
      return Promise.resolve(value).then((settled) =>
        settled === undefined ? call.value(onNotAwaited) : settled,
      )
    }
}
