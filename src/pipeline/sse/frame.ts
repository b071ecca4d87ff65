import type { SerializeData } from '../../context/outgoing.ts'
import { describeValue } from '../../support/describe-value.ts'
import { type Duration, seconds } from '../../support/duration.ts'
import type { ServerSentEvent } from './events.ts'

const KEYS = ['event', 'data', 'id', 'retry']

/**
 * Writes an event as the client reads it (HTML, section 9.2.6). Each line of the data becomes a line of its own.
 * @throws TypeError for a value that is not an event, and for an `event` or `id` with a line break, which would let the
 * author of the text write further events.
 */
export async function frameOf(event: unknown, serialize: SerializeData): Promise<string> {
  const fields: ServerSentEvent = typeof event === 'string' ? { data: event } : eventOf(event)
  const { event: name, id, retry, data } = fields
  const lines: string[] = []
  if (name !== undefined) lines.push(`event: ${oneLine('event', name)}`)
  if (id !== undefined) lines.push(`id: ${oneLine('id', String(id))}`)
  if (retry !== undefined) lines.push(`retry: ${milliseconds(retry)}`)
  if (data !== undefined)
    for (const line of (await serialize(data)).split(/\r\n|\r|\n/)) lines.push(`data: ${line}`)
  return `${lines.join('\n')}\n\n`
}

function eventOf(event: unknown): ServerSentEvent {
  if (typeof event !== 'object' || event === null)
    throw new TypeError(`An event is ${describeValue(event)}. Yield a string or { data }.`)
  const unknown = Object.keys(event).find((key) => !KEYS.includes(key))
  if (unknown !== undefined)
    throw new TypeError(
      `An event has the key '${unknown}'. Its keys are ${KEYS.join(', ')}: yield { data: value }.`,
    )
  return event
}

/** A NUL would make the browser ignore an id. */
function oneLine(field: string, text: string): string {
  if (/[\r\n\0]/.test(text)) throw new TypeError(`The ${field} of an event contains a line break or a NUL.`)
  return text
}

function milliseconds(retry: Duration): number {
  return Math.round(seconds(retry) * 1000)
}
