import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Runs a full garbage collection, or with `minor` one of the young generation only. */
export const collectGarbage = runInNewContext('gc') as (options?: { type: 'minor' }) => void
