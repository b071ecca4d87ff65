import type { TestSubscription } from '@mortar/realtime/channels/testing'

/** The number of the last event of a test. */
export const LAST = -1

/** Returns the number of the next event. */
export async function nextEvent(reader: TestSubscription): Promise<number> {
  for (;;) {
    const { type, data } = await reader.next()
    if (type === 'event') return (data as { number: number }).number
  }
}

/** Reads the numbers of events until the last one. */
export async function numbersOf(reader: TestSubscription): Promise<number[]> {
  const numbers: number[] = []
  for (;;) {
    const number = await nextEvent(reader)
    if (number === LAST) return numbers
    numbers.push(number)
  }
}
