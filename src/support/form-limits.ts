import { inspect } from 'node:util'
import { bytes, isSize, type Size } from './bytes.ts'
import { isObject } from './describe-value.ts'

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

type Setting = readonly [expected: string, read: (value: unknown) => unknown]

const COUNT: Setting = [
  'a whole number of 0 or more',
  (value) => (Number.isInteger(value) && Number(value) >= 0 ? value : undefined),
]
const SIZE: Setting = ['a size', (value) => (isSize(value) ? bytes(value as Size) : undefined)]
const SETTINGS: Readonly<Record<string, Setting>> = {
  maxFields: COUNT,
  maxFiles: COUNT,
  maxFileSize: SIZE,
  maxHeaderSize: SIZE,
  folder: [
    'the path of a folder',
    (value) => (typeof value === 'string' && value !== '' ? value : undefined),
  ],
} satisfies Record<keyof FormLimits, Setting>

/**
 * Completes `options` from `defaults`.
 * @throws RangeError that names the option: an unknown name, a count that is not a whole number, an invalid size.
 */
export function formLimits(options: unknown, defaults: FormLimits = DEFAULT_FORM_LIMITS): FormLimits {
  if (options === undefined) return defaults
  if (!isObject(options)) throw new RangeError(`multipart is an object of settings, not ${inspect(options)}.`)
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return { ...defaults, ...Object.fromEntries(given.map(([name, value]) => [name, settingOf(name, value)])) }
}

function settingOf(name: string, value: unknown): unknown {
  if (!Object.hasOwn(SETTINGS, name))
    throw new RangeError(`multipart.${name} is unknown. Use ${Object.keys(SETTINGS).join(', ')}.`)
  const [expected, read] = SETTINGS[name]!
  const setting = read(value)
  if (setting !== undefined) return setting
  throw new RangeError(`multipart.${name} is ${expected}, not ${inspect(value)}.`)
}
