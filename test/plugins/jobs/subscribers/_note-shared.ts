import { durableEvent } from '@mortar/jobs'
import { object, string } from 'mortar/yup'

export const noteShared = durableEvent('note.shared', object({ note: string().required() }))
/** Runs of the subscribers, and what fails. */
export const runs: string[] = []
export const failing = new Set<string>()

export function run(name: string, note: string): void {
  if (failing.has(name)) throw new Error(`${name} fails`)
  runs.push(`${name} ${note}`)
}

/** A note whose job cannot be added, because its key is empty. */
export const NO_KEY = 'no key'
