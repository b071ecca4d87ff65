import { inspect } from 'node:util'
import { bytes, type Size } from './bytes.ts'

/** Settings of forms, for the application (`createApp`) or one route. Omitted settings keep their defaults. */
export interface MultipartOptions {
  /** Maximum fields that are not files, also of an urlencoded form. 1,000 by default. */
  readonly maxFields?: number
  /** Maximum files of a form. 10 by default. */
  readonly maxFiles?: number
  /** Largest file: bytes, or a size such as `'5mb'`. By default only `bodyLimit` applies. */
  readonly maxFileSize?: Size
  /** Longest header block of one part: bytes, or a size. 16 KiB by default. */
  readonly maxHeaderSize?: Size
  /** Existing folder for temporary files. By default the temp folder of the machine. The start checks that it is writable. */
  readonly folder?: string
}

/** Settings of a form with all defaults; sizes in bytes. */
export interface FormLimits {
  readonly maxFields: number
  readonly maxFiles: number
  readonly maxFileSize: number
  readonly maxHeaderSize: number
  /** Undefined for the temp folder of the machine. */
  readonly folder: string | undefined
}

/** The limits of an application without options. */
export const DEFAULT_FORM_LIMITS: FormLimits = {
  maxFields: 1000,
  maxFiles: 10,
  maxFileSize: Infinity,
  maxHeaderSize: 16 * 1024,
  folder: undefined,
}

const COUNTS = ['maxFields', 'maxFiles'] as const
const SIZES = ['maxFileSize', 'maxHeaderSize'] as const

/**
 * Completes `options` from `defaults`.
 * @throws RangeError that names the option: an unknown name, a count that is not a whole number, an invalid size.
 */
export function formLimits(options: unknown, defaults: FormLimits = DEFAULT_FORM_LIMITS): FormLimits {
  if (options === undefined) return defaults
  if (typeof options !== 'object' || options === null)
    throw new RangeError(`multipart is an object of settings, not ${inspect(options)}.`)
  const given = options as Readonly<Record<string, unknown>>
  const known: readonly string[] = [...COUNTS, ...SIZES, 'folder']
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new RangeError(`multipart.${unknown} is unknown. Use ${known.join(', ')}.`)
  const limits: { -readonly [K in keyof FormLimits]: FormLimits[K] } = { ...defaults }
  for (const name of COUNTS) limits[name] = countOf(name, given[name]) ?? limits[name]
  for (const name of SIZES) limits[name] = sizeOf(name, given[name]) ?? limits[name]
  if (given['folder'] !== undefined) limits.folder = folderOf(given['folder'])
  return limits
}

function folderOf(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw new RangeError(`multipart.folder is the path of a folder, not ${inspect(value)}.`)
}

function countOf(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value
  throw new RangeError(`multipart.${name} is a whole number of 0 or more, not ${inspect(value)}.`)
}

function sizeOf(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'number' && typeof value !== 'string')
    throw new RangeError(`multipart.${name} is a size, not ${inspect(value)}.`)
  try {
    return bytes(value)
  } catch (error) {
    throw new RangeError(`multipart.${name}: ${(error as Error).message}`, { cause: error })
  }
}
