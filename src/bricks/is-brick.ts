import type { AnyBrick } from './brick.ts'

/** True for an object with a name, as `defineBrick` returns it; `checkBrick` checks its slots. */
export function isBrick(item: unknown): item is AnyBrick {
  return (
    typeof item === 'object' &&
    item !== null &&
    typeof (item as AnyBrick).name === 'string' &&
    (item as AnyBrick).name !== ''
  )
}
