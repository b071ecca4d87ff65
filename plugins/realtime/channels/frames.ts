import { problemText } from 'mortar/kit'
import { idOf, type Place, type StoredEvent } from './engine.ts'
import type { Frame } from './subscriptions.ts'

/** Frames to clients; `docs/realtime.md` has the table. */

/** An event, whose text all its subscribers share. */
export function eventFrame({ channel, event, data, at, time }: StoredEvent, epoch: string): Frame {
  const id = idOf({ epoch, at, time })
  const head = JSON.stringify({ type: 'event', channel, event, id })
  return { text: `${head.slice(0, -1)},"data":${data}}`, id }
}

/** A frame with the place up to which the client has everything. */
export function placeFrame(type: 'subscribed' | 'reset' | 'place', place: Place, fields: object = {}): Frame {
  const id = idOf(place)
  return { text: JSON.stringify({ type, ...fields, id }), id }
}

/** A frame without an id. */
export function plainFrame(type: string, fields: object = {}): Frame {
  return { text: JSON.stringify({ type, ...fields }) }
}

/** A subscription that was refused or has ended, with its problem. */
export function refusedFrame(channel: string | undefined, problem: unknown, requestId: string): Frame {
  const text = problemText(problem, requestId, { exposeUnexpected: false })
  const head = JSON.stringify({ type: 'refused', channel })
  return { text: `${head.slice(0, -1)},"problem":${text}}` }
}
