import { BadRequest } from '../../errors/http-error.ts'
import { readParameters } from './parameters.ts'

/** RFC 2046 §5.1.1: 1 to 70 of these characters, without a space at the end. */
const BOUNDARY = /^[0-9a-z'()+_,\-./:=? ]{0,69}[0-9a-z'()+_,\-./:=?]$/i

/**
 * Returns the `boundary` of a multipart `Content-Type`.
 * @throws BadRequest `malformed_body` if it is missing, invalid or repeated.
 */
export function boundaryOf(contentType: string | undefined): string {
  // Some clients end the header with a semicolon.
  const header = (contentType ?? '').replace(/;\s*$/, '')
  const boundary = readParameters(header, invalid).get('boundary') ?? ''
  if (BOUNDARY.test(boundary)) return boundary
  throw invalid()
}

function invalid(): BadRequest {
  return new BadRequest('The Content-Type of the form has no valid boundary of 1 to 70 characters.', {
    code: 'malformed_body',
  })
}
