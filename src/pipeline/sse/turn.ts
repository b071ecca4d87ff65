/** Steps that all streams together make in one turn of the event loop. */
const STEPS = 64

const waiting: (() => void)[] = []
let taken = 0

/**
 * Takes a step of the current turn of the event loop. A source that is always ready would stop every other request, and
 * a budget for each stream would grow with their number.
 * @returns undefined if the step may run now, else a promise for a later turn, in the order of the calls.
 */
export function takeStep(): Promise<void> | undefined {
  if (taken < STEPS) {
    if (taken++ === 0) setImmediate(nextTurn)
    return undefined
  }
  return new Promise((resolve) => {
    waiting.push(resolve)
  })
}

function nextTurn(): void {
  const next = waiting.splice(0, STEPS)
  taken = next.length
  if (taken > 0) setImmediate(nextTurn)
  for (const resume of next) resume()
}
