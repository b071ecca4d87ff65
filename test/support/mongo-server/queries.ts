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
