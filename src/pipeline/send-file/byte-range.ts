/** First and last byte, both included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export function lengthOf({ start, end }: ByteRange): number {
  return end - start + 1
}
