import { setTimeout as wait } from 'node:timers/promises'
import { defineRoute } from 'mortar'

/** An endless event stream with one event each 200 ms. */
export default defineRoute({}, (ctx) => {
  ctx.type = 'text/event-stream'
  return ticks(ctx.signal)
})

async function* ticks(signal: AbortSignal): AsyncGenerator<string> {
  for (let tick = 0; !signal.aborted; tick++) {
    yield `data: ${tick}\n\n`
    await wait(200)
  }
}
