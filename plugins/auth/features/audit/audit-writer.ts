import { randomBytes } from 'node:crypto'
import { clientNetwork } from 'mortar/kit'
import type { RecordRow, Records } from '../../accounts/records.ts'
import type { AuthEvents } from '../../events/events.ts'
import type { FeatureKit } from '../feature.ts'
import { AUDIT } from './table.ts'

type Event = Readonly<Record<string, unknown>>

/** Fields of events that are stored besides the columns. No other field is: it may have a secret or an address. */
const DATA: readonly string[] = ['reason', 'scope', 'kind', 'left']
/** Entries that may wait for a slow database. */
const MOST_WAITING = 1000
/** Milliseconds in which a stranger's event is stored once for each network, and the most of them that are stored. */
const PAUSE = 60_000
const MOST_OF_STRANGERS = 10_000

/** Creates the writer of one application. `keep` in milliseconds. */
export function createAuditWriter(kit: FeatureKit, records: Records, keep: number) {
  const { clock, mails, outages } = kit
  const isRepeated = createRepetitions()
  const idAt = createIds()
  let waiting = 0
  let lost = 0
  let tail: Promise<void> = Promise.resolve()

  const lose = (error: unknown): void => {
    lost += 1
    outages.log({ part: 'audit', error, message: 'Entries of the audit log are lost', fields: { lost } })
  }
  const append = (row: RecordRow): Promise<void> =>
    (tail = tail
      .then(() => insertOwned(kit, records, row))
      .catch(lose)
      .finally(() => (waiting -= 1)))
  // Later, since the time of the response would show that a failed login has an account. One after the other, on one
  // connection.
  const store = (row: RecordRow): void => {
    waiting += 1
    mails.later(() => append(row))
  }
  return {
    /** Stores an event after the response, at a random delay. */
    write(type: keyof AuthEvents, event: Event) {
      const now = clock.now()
      const { isDeleted, userId, ...columns } = columnsOf(type, event)
      const network = clientNetwork(columns.ip ?? '')
      if (userId === null && !isDeleted && isRepeated(`${type} ${network} ${columns.data}`, now)) return
      if (waiting >= MOST_WAITING) lose(new Error(`${waiting} entries wait for the database`))
      else store({ id: idAt(now), user_id: userId, ...columns, created_at: now, expires_at: now + keep })
    },
    settled: () => tail,
  }
}

/** Nothing is stored for a user who is gone by then. Documents have no foreign key that would see to it. */
async function insertOwned({ users }: FeatureKit, records: Records, row: RecordRow): Promise<void> {
  const { id = null, user_id: userId } = row
  const isGone = async () => typeof userId === 'string' && (await users.findUserById(userId)) === null
  try {
    await records.insert(row)
  } catch (error) {
    if (await isGone()) return
    throw error
  }
  if (await isGone()) await records.remove({ id })
}

function columnsOf(type: keyof AuthEvents, event: Event) {
  // The user of this event is gone, so the row cannot belong to it.
  const isDeleted = type === 'auth.user.deleted'
  const textOf = (name: string, column: string) =>
    typeof event[name] === 'string' ? event[name].slice(0, AUDIT.texts![column]) : null
  const names = isDeleted ? ['userId'] : DATA
  const fields = names.filter((name) => name in event).map((name) => [name, event[name]])
  const data = JSON.stringify(Object.fromEntries(fields))
  return {
    isDeleted,
    userId: isDeleted ? null : textOf('userId', 'session_id'),
    event: type,
    session_id: textOf('sessionId', 'session_id'),
    ip: textOf('ip', 'ip'),
    request_id: textOf('requestId', 'request_id'),
    data: data.length > AUDIT.texts!['data']! ? null : data,
  }
}

/** Keys in the order of time: milliseconds, a counter and 64 random bits, in hexadecimal digits. */
function createIds(): (now: number) => string {
  let count = 0
  return (now) => {
    count = (count + 1) % 0x1_00_00
    const parts = [now.toString(16).padStart(12, '0'), count.toString(16).padStart(4, '0')]
    return parts.join('') + randomBytes(8).toString('hex')
  }
}

/** Without a user, anybody can cause any number of events, so one of each kind is stored in a while. */
function createRepetitions(): (key: string, now: number) => boolean {
  const seen = new Set<string>()
  let begin = Number.NEGATIVE_INFINITY
  return (key, now) => {
    if (Math.abs(now - begin) >= PAUSE) {
      seen.clear()
      begin = now
    }
    if (seen.has(key) || seen.size >= MOST_OF_STRANGERS) return true
    seen.add(key)
    return false
  }
}
