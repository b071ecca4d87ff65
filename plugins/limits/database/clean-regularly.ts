/** Milliseconds between two clean-ups of a process. */
const PERIOD = 60_000
/** Rows that one statement deletes, so that no lock is long. */
const MOST = 1000
/** Statements of one clean-up. */
const ROUNDS = 20
/** Part of the period until the next clean-up if expired rows are left: invented keys may add rows faster. */
const SOON = 1 / 60

/** Rows that can be deleted. */
interface Expiring {
  deleteExpired(now: number, most: number): Promise<number>
}

/**
 * Deletes expired rows every minute, at a different moment in each process. A failed clean-up is repeated with the next.
 * @returns a function that ends it.
 */
export function cleanRegularly(rows: Expiring, period = PERIOD): () => void {
  let timer = setTimeout(clean, period * (0.5 + Math.random() / 2)).unref()
  let isEnded = false
  function clean(): void {
    void deleteAll(rows, () => isEnded).then((isRest) => {
      if (!isEnded) timer = setTimeout(clean, isRest ? period * SOON : period).unref()
    })
  }
  return () => {
    isEnded = true
    clearTimeout(timer)
  }
}

/** @returns true if expired rows may be left. */
async function deleteAll(rows: Expiring, isEnded: () => boolean): Promise<boolean> {
  try {
    for (let round = 0; round < ROUNDS && !isEnded(); round++)
      if ((await rows.deleteExpired(Date.now(), MOST)) < MOST) return false
    return true
  } catch {
    // The next clean-up deletes the same rows.
    return false
  }
}
