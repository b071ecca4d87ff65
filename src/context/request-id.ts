import { randomBytes } from 'node:crypto'

const WELL_FORMED = /^[\w.:-]{1,128}$/
const process = randomBytes(6).toString('base64url')
let count = 0

/** The caller's id when it is short and harmless in a log line, else one that is unique to this process and request. */
export function requestId(presented: string | string[] | undefined): string {
  if (typeof presented === 'string' && WELL_FORMED.test(presented)) return presented
  count += 1
  return `${process}-${count.toString(36)}`
}
