/** Steps in one turn of the event loop. */
const STEPS = 64

/**
 * Takes a step of the current turn of the event loop.
 * @returns undefined if the step may run now, else a promise for a later turn, in the order of the calls.
 */
export type TakeStep = () => Promise<void> | undefined

/** Creates a budget of steps, so that work which comes in thousands stops no other request. */
export function createTurns(): TakeStep {
  const waiting: (() => void)[] = []
  let taken = 0
  function nextTurn(): void {
    const next = waiting.splice(0, STEPS)
    taken = next.length
    if (taken > 0) setImmediate(nextTurn)
    for (const resume of next) resume()
  }
  return () => {
    if (taken < STEPS) {
      if (taken++ === 0) setImmediate(nextTurn)
      return undefined
    }
    return new Promise((resolve) => {
      waiting.push(resolve)
    })
  }
}
