import type { MixedSchema } from 'yup'
import { bytes, type Size } from '../../support/bytes.ts'
import { checkOptions, type OptionChecks } from '../../support/check-options.ts'
import { matchesType } from '../../support/media-type.ts'
import { loadYup } from '../../support/lazy-packages.ts'
import { isUploadedFile, type UploadedFile } from '../uploaded-file.ts'
import { isYup } from '../../compat/yup.ts'

/** Limits of an uploaded file. */
export interface FileOptions {
  /** Largest content: bytes, or a size such as `'2mb'`. */
  readonly maxSize?: Size
  /** Media types that the client may claim: `'application/pdf'`, `'image/*'`. */
  readonly types?: readonly string[]
}

const OPTIONS: OptionChecks<FileOptions> = {
  of: 'file()',
  // An accidental `undefined` would accept every file.
  keys: { maxSize: { is: ['number', 'string'], guard: true }, types: { is: 'strings', guard: true } },
}

/** Marks the type check of a file schema; yup keeps that function in every clone of the schema. */
const FILE = Symbol.for('mortar.file-schema')

const check = Object.assign(isUploadedFile, { [FILE]: true })

/**
 * A yup schema of one uploaded file: `body: object({ avatar: file({ maxSize: '2mb', types: ['image/*'] }).required()
 * })`. It accepts only objects of the multipart parser, and makes its route read multipart/form-data. Several files are
 * `array(file().required()).max(5)`.
 * @throws StartupError for an unknown option or a value of another type.
 * @throws RangeError for a `maxSize` that is not a size or a type that is not a media type.
 */
export function file(options: FileOptions = {}): MixedSchema<UploadedFile | undefined> {
  checkOptions(options, OPTIONS)
  const { maxSize, types } = options
  let schema = loadYup()
    .mixed<UploadedFile>({ check })
    .typeError(({ path }: { path: string }) => `${path} must be an uploaded file`)
  if (maxSize !== undefined) schema = withMaxSize(schema, bytes(maxSize))
  if (types !== undefined) schema = withTypes(schema, types)
  return schema
}

type FileSchema = MixedSchema<UploadedFile | undefined>

function withMaxSize(schema: FileSchema, max: number): FileSchema {
  return schema.test({
    name: 'fileSize',
    message: ({ path }: { path: string }) => `${path} must not be larger than ${max} bytes`,
    params: { max },
    skipAbsent: true,
    test: (value) => isUploadedFile(value) && value.size <= max,
  })
}

function withTypes(schema: FileSchema, given: readonly string[]): FileSchema {
  const types = given.map((type) => type.toLowerCase())
  const wrong = types.find((type) => !/^[^\s/;*]+\/(?:[^\s/;*]+|\*)$/.test(type))
  if (wrong !== undefined)
    throw new RangeError(`'${wrong}' is not a media type: write 'image/png' or 'image/*'.`)
  return schema.test({
    name: 'fileType',
    message: ({ path }: { path: string }) => `${path} must be of type ${types.join(' or ')}`,
    params: { types },
    skipAbsent: true,
    test: (value) => isUploadedFile(value) && types.some((type) => matchesType(type, value.mimetype ?? '')),
  })
}

/** True for a schema from `file()`, also after chained calls. */
export function isFileSchema(schema: unknown): boolean {
  // The name of yup's member does not matter.
  return (
    isYup(schema) && Object.values(schema).some((member) => typeof member === 'function' && FILE in member)
  )
}
