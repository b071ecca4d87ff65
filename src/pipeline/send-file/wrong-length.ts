/** Returns the error of content that has another length than the headers: it closes the connection. */
export function wrongLength(length: number, found: string): Error {
  return new Error(`A file of ${length} bytes has ${found}; it changed while it was sent.`)
}
