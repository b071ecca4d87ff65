import { BadRequest } from '../../errors/http-error.ts'

/** RFC 2046 §5.1.1: 1 to 70 of these characters, without a space at the end. */
const BOUNDARY = /^[0-9a-z'()+_,\-./:=? ]{0,69}[0-9a-z'()+_,\-./:=?]$/i

/**
 * Returns the `boundary` of a multipart `Content-Type`.
 * @throws BadRequest `malformed_body` if it is missing or invalid.
 */
export function boundaryOf(contentType: string | undefined): string {
  const match = /;\s*boundary=(?:"([^"]*)"|([^\s;"]*))/i.exec(contentType ?? '')
  const boundary = match?.[1] ?? match?.[2] ?? ''
  if (BOUNDARY.test(boundary)) return boundary
  throw new BadRequest('The Content-Type of the form has no valid boundary of 1 to 70 characters.', {
    code: 'malformed_body',
  })
}
