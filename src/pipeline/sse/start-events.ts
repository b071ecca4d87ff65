import type { RequestContext } from '../../context/request-context.ts'
import { checkOptions, type OptionChecks } from '../../support/check-options.ts'
import { isLongNumber, isTimeout, seconds, TIME_LIMIT } from '../../support/duration.ts'
import { EventStream } from './event-stream.ts'
import type { EventsSource, SseOptions } from './events.ts'

const OPTIONS: OptionChecks<SseOptions> = {
  of: 'sse()',
  keys: { heartbeat: ['number', 'string'], retry: ['number', 'string'] },
}

/** Seconds. */
const HEARTBEAT = 15

/** Sets the headers and returns the stream of the events. */
export function startEvents(ctx: RequestContext, events: EventsSource, options: SseOptions): EventStream {
  checkOptions(options, OPTIONS)
  const { heartbeat = HEARTBEAT, retry } = options
  if (!isTimeout(heartbeat) || isLongNumber(heartbeat))
    throw new RangeError(`The option heartbeat of sse() is not ${TIME_LIMIT}.`)
  ctx.set('Content-Type', 'text/event-stream')
  // Without `no-transform`, compressing middleware would collect events.
  ctx.set('Cache-Control', 'no-cache, no-transform')
  // nginx would collect them too.
  ctx.set('X-Accel-Buffering', 'no')
  const first = retry === undefined ? undefined : { retry }
  return new EventStream({ events, ctx, heartbeat: seconds(heartbeat) * 1000, first })
}
