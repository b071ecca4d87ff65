import { isUtf8 } from 'node:buffer'
import { BadRequest, UnsupportedMediaType } from '../../errors/http-error.ts'
import { readParameters } from './parameters.ts'

/** The headers of one part of a form (RFC 7578 §4). */
export interface PartHead {
  /** Name of the field; null if the part has no name. */
  readonly name: string | null
  /** File name from the client, without folders, `_` for `.` and `..`; null for a field, empty for an empty file input. */
  readonly filename: string | null
  /** Media type without parameters, in lower case. */
  readonly mimetype: string | null
}

/**
 * Reads the header block of a part in linear time.
 * @throws BadRequest `malformed_body` for an invalid or repeated header, for control characters, and for a
 * `Content-Transfer-Encoding` that changes bytes (RFC 7578 §4.7).
 * @throws UnsupportedMediaType for a charset other than UTF-8.
 */
export function readPartHead(block: Buffer): PartHead {
  if (!isUtf8(block)) throw malformed('The headers of a part are not valid UTF-8.')
  const headers = headersOf(block.toString('utf8'))
  refuseEncoding(headers.get('content-transfer-encoding'))
  const disposition = parametersOf(headers.get('content-disposition'))
  const filename = filenameOf(disposition)
  const type = headers.get('content-type')
  if (filename === null) refuseCharset(type)
  return {
    name: disposition.get('name')?.replaceAll('%22', '"') ?? null,
    filename,
    mimetype: type?.split(';', 1)[0]!.trim().toLowerCase() || null,
  }
}

const HEADER = /^([!#$%&'*+.^_`|~0-9a-z-]+):(.*)$/is
// oxlint-disable-next-line no-control-regex -- control characters are refused
const CONTROL = /[\u0000-\u0008\n-\u001f\u007f]/

function headersOf(block: string): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  if (block === '') return headers
  for (const line of block.split('\r\n')) {
    const header = CONTROL.test(line) ? null : HEADER.exec(line)
    if (header === null) throw malformed('A part of the form has a malformed header.')
    const name = header[1]!.toLowerCase()
    if (headers.has(name)) throw malformed('A part of the form repeats a header.')
    headers.set(name, header[2]!.trim())
  }
  return headers
}

function parametersOf(header: string | undefined): ReadonlyMap<string, string> {
  if (header === undefined) return new Map()
  if (/^[^;]*/.exec(header)![0].trim().toLowerCase() !== 'form-data')
    throw malformed('A part of the form is not form-data.')
  return readParameters(header, (found) =>
    malformed(
      found === 'repeated'
        ? 'A part of the form repeats a parameter of its Content-Disposition header.'
        : 'A part of the form has a malformed Content-Disposition header.',
    ),
  )
}

/**
 * Returns the file name. `filename*` (RFC 5987) is not part of RFC 7578 §4.2, so it is used only without `filename`.
 */
function filenameOf(parameters: ReadonlyMap<string, string>): string | null {
  const plain = parameters.get('filename')?.replaceAll('%22', '"')
  const name = plain ?? decodeExtended(parameters.get('filename*'))
  // The names of folders would also lead out of a folder.
  return name === null ? null : name.replace(/^.*[/\\]/s, '').replace(/^\.{1,2}$/, '_')
}

function decodeExtended(value: string | undefined): string | null {
  if (value === undefined) return null
  const match = /^utf-8'[^']*'(.*)$/i.exec(value)
  try {
    const name = match && decodeURIComponent(match[1]!)
    if (name !== null && !CONTROL.test(name)) return name
  } catch {
    // A malformed escape is reported below.
  }
  throw malformed('A part of the form has a malformed filename* parameter.')
}

function refuseEncoding(encoding = 'binary'): void {
  if (!['binary', '7bit', '8bit'].includes(encoding.toLowerCase()))
    throw malformed('A part of the form has a Content-Transfer-Encoding. Send its bytes without an encoding.')
}

/** Refuses a field whose charset is not UTF-8; a file may have any charset. */
function refuseCharset(type = ''): void {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(type)?.[1]?.toLowerCase() ?? 'utf-8'
  if (!['utf-8', 'utf8', 'us-ascii'].includes(charset))
    throw new UnsupportedMediaType('A field of the form has a charset other than UTF-8.')
}

function malformed(detail: string): BadRequest {
  return new BadRequest(detail, { code: 'malformed_body' })
}
