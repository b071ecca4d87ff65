import { deserialize, serialize, type Document } from 'bson'
import { Query as FullQuery, updateOne as updateWithExpressions } from 'mingo'
import { Context } from 'mingo/core'
import * as query from 'mingo/operators/query'
import { Query } from 'mingo/query'
import { updateOne } from 'mingo/updater'

/*
 * mingo copies its tables of operators for each query and update. Those of expressions are by far the largest, so what
 * has no expression does without them.
 */
const context = Context.init({ query })

/** A filter, ready to test documents and to find those that match. */
export function queryOf(filter: Document, projection: Document = {}): Query {
  const isPlain =
    !hasExpression(filter) && Object.values(projection).every((value) => Object(value) !== value)
  return isPlain ? new Query(filter, { context }) : new FullQuery(filter)
}

/**
 * Finds the documents with the texts that a filter asks for. mingo would need longer to prepare the query than this for
 * the few documents of a test. @returns them, and the rest of the filter.
 */
export function narrow(documents: readonly Document[], filter: Document): [readonly Document[], Document] {
  let found = documents
  const rest: Document = {}
  for (const [field, condition] of Object.entries(filter)) {
    const text = /[$.]/.test(field) ? undefined : textOf(condition)
    // A list with this text matches too, as mingo knows.
    if (text !== undefined)
      found = found.filter(({ [field]: value }) => value === text || typeof value === 'object')
    if (text === undefined || found.some(({ [field]: value }) => value !== text)) rest[field] = condition
  }
  return [found, rest]
}

/** The text that a condition asks for, if it asks for nothing else. */
function textOf(condition: unknown): string | undefined {
  if (typeof condition === 'string') return condition
  const { $eq: text, ...others } = (condition ?? {}) as Document
  return typeof text === 'string' && Object.keys(others).length === 0 ? text : undefined
}

/** The fields of a change that sets whole fields and does nothing else. */
export function fieldsOf(by: Document | Document[]): Document | undefined {
  const { $set: fields, ...others } = by as Document
  const isPlain = !Array.isArray(by) && fields !== undefined && Object.keys(others).length === 0
  return isPlain && !Object.keys(fields).some((name) => /[$.]/.test(name)) ? fields : undefined
}

/** Changes a document in place, by operators such as `$set` or by the stages of a pipeline. @throws for unknown ones. */
export function change(document: Document, by: Document | Document[], arrayFilters?: Document[]): Document {
  const update = Array.isArray(by) ? updateWithExpressions : updateOne
  const changed = [document]
  update(changed, {}, by as never, { cloneMode: 'deep', ...(arrayFilters && { arrayFilters }) })
  return changed[0]!
}

const written = new WeakMap<Document, Uint8Array>()

/** The BSON of a document that never changes. */
export function bytesOf(document: Document): Uint8Array {
  const known = written.get(document) ?? serialize(document)
  written.set(document, known)
  return known
}

export function copy(document: Document): Document {
  return deserialize(bytesOf(document))
}

/** Expressions are only at the top of a filter and in its logical operators. */
function hasExpression(filter: Document): boolean {
  return Object.entries(filter).some(
    ([key, value]) =>
      key === '$expr' || (key.startsWith('$') && Array.isArray(value) && value.some(hasExpression)),
  )
}
