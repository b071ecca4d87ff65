/*
 * The id of a session says when the session began, so that "everything that began before now is over" needs no list
 * and no clock of whole seconds: ids made by one process are strictly increasing, even while its clock stands still
 * or is set back. Held by test/plugins/auth/primitives/session-ids.test.ts.
 */
import { randomBytes } from 'node:crypto'
import { systemClock, type Clock } from '../../src/index.ts'

const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
/** Length of the part with the time and the counter. */
const MOMENT = 18
const COUNTER_END = 0x1000

/** Makes session ids. */
export interface SessionIds {
  /** A UUID of version 7 (RFC 9562 §5.7, with the counter of §6.2 method 1). */
  next(): string
}

/** Makes ids that increase strictly in the order in which they were made. */
export function createSessionIds({ clock = systemClock }: { readonly clock?: Clock } = {}): SessionIds {
  let time = 0
  let counter = 0

  function advance(): void {
    const now = Math.max(0, Math.floor(clock.now()))
    counter = now > time ? 0 : counter + 1
    time = Math.max(now, time)
    if (counter === COUNTER_END) {
      counter = 0
      time += 1
    }
  }

  function next(): string {
    advance()
    const random = randomBytes(8)
    random[0] = (random[0]! & 0x3f) | 0x80
    const hex =
      time.toString(16).padStart(12, '0') +
      '7' +
      counter.toString(16).padStart(3, '0') +
      random.toString('hex')
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  }

  return { next }
}

/** The part of a session id that orders it among others, or null when the id was not made by `createSessionIds`. */
export function momentOf(id: string): string | null {
  return FORM.test(id) ? id.slice(0, MOMENT) : null
}
