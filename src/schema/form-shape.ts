import { isFileSchema } from './yup/file.ts'
import type { Schema } from './schema.ts'
import { shapeOf } from './text-shape.ts'
import { isYup, memberSchemas, type YupNode } from '../compat/yup.ts'

/** Rules of a body schema for the parts of a form. */
export interface FormShape {
  /** The schema has a `file()` somewhere. */
  readonly hasFiles: boolean
  /** Names of fields that are lists: one part of that name is a list of one. */
  readonly lists: ReadonlySet<string>
  /** Largest file in bytes by field name, from `file({ maxSize })`. */
  readonly sizes: ReadonlyMap<string, number>
  /** Media types by field name, from `file({ types })`. */
  readonly types: ReadonlyMap<string, readonly string[]>
}

/** Reads a body schema for forms; undefined for a route without a body schema. */
export function formShapeOf(schema: Schema | undefined): FormShape {
  const files = schema === undefined ? [] : fieldsOf(schema).flatMap(fileField)
  return {
    hasFiles: schema !== undefined && hasFile(schema, new Set()),
    lists: new Set(schema === undefined ? [] : listsOf(schema)),
    sizes: new Map(files.flatMap(([name, node]) => entry<number>(name, node, 'fileSize', 'max'))),
    types: new Map(
      files.flatMap(([name, node]) => entry<readonly string[]>(name, node, 'fileType', 'types')),
    ),
  }
}

function fieldsOf(schema: Schema): readonly (readonly [string, unknown])[] {
  return isYup(schema) ? Object.entries(schema.fields ?? {}) : []
}

/** The file schema of a field: its own, or that of its items. */
function fileField([name, field]: readonly [string, unknown]): (readonly [string, YupNode])[] {
  const node = isYup(field) && field.type === 'array' ? field.innerType : field
  return isYup(node) && isFileSchema(node) ? [[name, node]] : []
}

/** Returns the last test of a name, because the most recently chained test is effective. */
function entry<T>(name: string, node: YupNode, test: string, param: string): (readonly [string, T])[] {
  const found = node.tests.findLast(({ OPTIONS }) => OPTIONS.name === test)
  return found === undefined ? [] : [[name, found.OPTIONS.params?.[param] as T]]
}

function hasFile(schema: unknown, seen: Set<unknown>): boolean {
  if (!isYup(schema) || seen.has(schema)) return false
  seen.add(schema)
  return isFileSchema(schema) || memberSchemas(schema).some((member) => hasFile(member, seen))
}

function listsOf(schema: Schema): readonly string[] {
  return [...(shapeOf(schema).members ?? [])].flatMap(([name, member]) =>
    member.kind === 'list' ? [name] : [],
  )
}
