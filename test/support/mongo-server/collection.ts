import { ObjectId, type Document } from 'bson'
import { aggregate } from 'mingo'
import { CommandError } from './command-error.ts'
import { Indexes } from './indexes.ts'
import { bytesOf, change as changeInPlace, copy, fieldsOf, narrow, queryOf } from './queries.ts'

/** One update of the command `update` or `findAndModify`. */
export interface Update {
  readonly filter: Document
  readonly change: Document | Document[]
  readonly many?: boolean
  readonly upsert?: boolean
  readonly sort?: Document | undefined
  readonly arrayFilters?: Document[] | undefined
}

/** The counts of an update. */
export interface UpdateOutcome {
  readonly matched: number
  readonly modified: number
  readonly before: Document | null
  readonly after: Document | null
  readonly upsertedId?: unknown
}

/** The options of `find` besides the filter. */
export interface FindOptions {
  readonly sort?: Document | undefined
  readonly projection?: Document | undefined
  readonly skip?: number | undefined
  readonly limit?: number | undefined
}

/**
 * The documents of one collection, in memory. Each method is one turn of the event loop, so every command is atomic; a
 * document is replaced and never changed, so that a write that is refused has changed nothing.
 */
export class Collection {
  readonly indexes: Indexes
  private documents: Document[] = []

  constructor(namespace: string) {
    this.indexes = new Indexes(namespace)
  }

  all(): readonly Document[] {
    return this.documents
  }

  find(filter: Document, { sort, projection, skip, limit }: FindOptions = {}): Document[] {
    const [narrowed, rest] = narrow(this.documents, filter)
    const isSorted = sort !== undefined && Object.keys(sort).length > 0
    if (!isSorted && !projection && Object.keys(rest).length === 0)
      return narrowed.slice(skip, limit ? (skip ?? 0) + Math.abs(limit) : undefined)
    const cursor = queryOf(rest, projection).find<Document>([...narrowed], projectionOf(projection))
    if (isSorted) cursor.sort(sort)
    if (skip) cursor.skip(skip)
    if (limit) cursor.limit(Math.abs(limit))
    return cursor.all()
  }

  /** The fields of a document that a projection leaves. */
  project(document: Document, projection?: Document): Document {
    return queryOf({}, projection).find<Document>([document], projectionOf(projection)).all()[0]!
  }

  aggregate(pipeline: Document[]): Document[] {
    return aggregate(this.documents.map(copy), pipeline)
  }

  insert(document: Document): Document {
    const complete = '_id' in document ? document : { _id: new ObjectId(), ...document }
    this.indexes.check(complete, this.documents)
    this.documents.push(complete)
    return complete
  }

  update({ filter, change, many, upsert, sort, arrayFilters }: Update): UpdateOutcome {
    const matched = this.find(filter, { sort, ...(many ? {} : { limit: 1 }) })
    const [before = null] = matched
    if (before === null && upsert) return this.upsert(filter, change, arrayFilters)
    let [modified, after] = [0, before]
    for (const document of matched) {
      const changed = applyChange(document, withoutSetOnInsert(change), arrayFilters)
      if (isEqual(document, changed)) continue
      this.replace(document, changed)
      modified += 1
      if (document === before) after = changed
    }
    return { matched: matched.length, modified, before, after }
  }

  delete(filter: Document, options: FindOptions = {}): Document[] {
    const doomed = new Set(this.find(filter, options))
    this.documents = this.documents.filter((document) => !doomed.has(document))
    return [...doomed]
  }

  private upsert(filter: Document, change: Document | Document[], arrayFilters?: Document[]): UpdateOutcome {
    const isReplacement = !Array.isArray(change) && !hasOperators(change)
    const seed =
      isReplacement && '_id' in filter ? { _id: filter['_id'] } : isReplacement ? {} : equalities(filter)
    const after = this.insert(applyChange(seed, withSetOnInsert(change), arrayFilters))
    return { matched: 0, modified: 0, before: null, after, upsertedId: after['_id'] }
  }

  private replace(document: Document, changed: Document): void {
    if (!isEqual({ _id: document['_id'] }, { _id: changed['_id'] }))
      throw new CommandError(
        66,
        "Performing an update on the path '_id' would modify the immutable field '_id'",
      )
    const others = this.documents.filter((other) => other !== document)
    this.indexes.check(changed, others)
    this.documents[this.documents.indexOf(document)] = changed
  }
}

function projectionOf(projection?: Document): Document | undefined {
  return projection && Object.keys(projection).length > 0 ? projection : undefined
}

function applyChange(document: Document, change: Document | Document[], arrayFilters?: Document[]): Document {
  if (!Array.isArray(change) && !hasOperators(change))
    return '_id' in document ? { _id: document['_id'], ...change } : change
  const fields = fieldsOf(change)
  if (fields) return { ...document, ...fields }
  try {
    return changeInPlace(copy(document), change, arrayFilters)
  } catch (error) {
    throw new CommandError(9, error instanceof Error ? error.message : String(error))
  }
}

function hasOperators(change: Document): boolean {
  return Object.keys(change).some((key) => key.startsWith('$'))
}

function withoutSetOnInsert(change: Document | Document[]): Document | Document[] {
  if (Array.isArray(change)) return change
  const { $setOnInsert: _, ...rest } = change
  // Without anything else it changes nothing, and must not be taken for a replacement.
  return '$setOnInsert' in change && Object.keys(rest).length === 0 ? { $set: {} } : rest
}

function withSetOnInsert(change: Document | Document[]): Document | Document[] {
  if (Array.isArray(change) || !('$setOnInsert' in change)) return change
  const { $setOnInsert, $set, ...rest } = change
  return { ...rest, $set: { ...$set, ...$setOnInsert } }
}

/** The fields that a filter compares by equality, as a document. */
function equalities(filter: Document): Document {
  const found: Document = {}
  for (const [key, value] of Object.entries(filter)) {
    if (key === '$and') for (const part of value as Document[]) Object.assign(found, equalities(part))
    if (key.startsWith('$')) continue
    const operators = Object.getPrototypeOf(value ?? 0) === Object.prototype && hasOperators(value)
    if (!operators) found[key] = value
    else if ('$eq' in value) found[key] = value.$eq
  }
  return found
}

function isEqual(one: Document, other: Document): boolean {
  return Buffer.compare(bytesOf(one), bytesOf(other)) === 0
}
