import { loadMediaTypes } from '../support/lazy-packages.ts'

/** Returns the media type with its charset, for a media type or a file extension. @throws TypeError for any other. */
export function fullMediaType(type: string): string {
  const full = loadMediaTypes().contentType(type)
  if (!full) throw new TypeError(`ctx.type: '${type}' is neither a media type nor a known file extension`)
  return full
}
