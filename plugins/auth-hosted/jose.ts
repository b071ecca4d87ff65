import type * as Jose from 'jose'

let loading: Promise<typeof Jose> | undefined

/** Loads jose once, when a provider starts: an ES module cannot be required on every version of Node. */
export function loadJose(): Promise<typeof Jose> {
  return (loading ??= import('jose'))
}
