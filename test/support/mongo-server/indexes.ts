import { serialize, type Document } from 'bson'
import { CommandError, duplicateKey } from './command-error.ts'
import { queryOf } from './queries.ts'

/** An index as `createIndexes` receives it and `listIndexes` returns it. */
export interface Index extends Document {
  readonly name: string
  readonly key: Document
  readonly unique?: boolean
  readonly sparse?: boolean
  readonly partialFilterExpression?: Document
}

const ID_INDEX: Index = { v: 2, key: { _id: 1 }, name: '_id_' }

/** The indexes of one collection. They find nothing faster; the unique ones refuse, as MongoDB's do. */
export class Indexes {
  private readonly namespace: string
  private readonly byName = new Map([[ID_INDEX.name, ID_INDEX]])

  constructor(namespace: string) {
    this.namespace = namespace
  }

  list(): Index[] {
    return [...this.byName.values()]
  }

  /** @returns true if it is new. @throws CommandError if documents violate it, or another index has its name. */
  add(index: Index, documents: Iterable<Document>): boolean {
    const present = this.byName.get(index.name)
    if (present && JSON.stringify(present) !== JSON.stringify({ v: 2, ...index }))
      throw new CommandError(86, `An existing index has the same name as the requested index: ${index.name}`)
    if (present || isSamePattern(index.key, ID_INDEX.key)) return false
    const kept: Document[] = []
    for (const document of documents) {
      this.check(document, kept, [index])
      kept.push(document)
    }
    this.byName.set(index.name, { v: 2, ...index })
    return true
  }

  drop(name: string): void {
    if (name === '*') for (const other of this.byName.keys()) if (other !== '_id_') this.byName.delete(other)
    if (name !== '*' && !this.byName.delete(name))
      throw new CommandError(27, `index not found with name [${name}]`)
  }

  /** @throws CommandError 11000 when one of the others has the same key in a unique index. */
  check(
    document: Document,
    others: Iterable<Document>,
    indexes: Iterable<Index> = this.byName.values(),
  ): void {
    for (const index of indexes) {
      if (index.name !== '_id_' && !index.unique) continue
      const keys = keysOf(index, document)
      if (keys.size === 0) continue
      for (const other of others) {
        const taken = keyInBoth(keysOf(index, other), keys)
        if (taken) throw duplicateKey(this.namespace, index.name, index.key, taken)
      }
    }
  }
}

function keyInBoth(
  one: ReadonlyMap<string, Document>,
  other: ReadonlyMap<string, Document>,
): Document | undefined {
  for (const key of one.keys()) if (other.has(key)) return other.get(key)
  return undefined
}

/** The keys of documents, by their indexes. A document never changes. */
const known = new WeakMap<Document, Map<Index, ReadonlyMap<string, Document>>>()

/** The keys of a document in an index, by their bytes: several for an array, none where the index leaves it out. */
function keysOf(index: Index, document: Document): ReadonlyMap<string, Document> {
  const byIndex = known.get(document) ?? new Map<Index, ReadonlyMap<string, Document>>()
  const keys = byIndex.get(index) ?? readKeys(index, document)
  known.set(document, byIndex.set(index, keys))
  return keys
}

function readKeys(index: Index, document: Document): Map<string, Document> {
  const { partialFilterExpression: filter, sparse } = index
  if (filter && !queryOf(filter).test(document)) return new Map()
  const paths = Object.keys(index.key)
  if (sparse && paths.every((path) => valuesAt(document, path.split('.'))[0] === undefined)) return new Map()
  let keys: Document[] = [{}]
  for (const path of paths)
    keys = keys.flatMap((key) =>
      // A field that is missing counts as null.
      valuesAt(document, path.split('.')).map((value) => Object.assign({}, key, { [path]: value ?? null })),
    )
  return new Map(keys.map((key) => [Buffer.from(serialize(key)).toString('base64'), key]))
}

function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path))
  const [first, ...rest] = path
  if (first === undefined) return [value]
  return typeof value === 'object' && value !== null
    ? valuesAt((value as Document)[first], rest)
    : [undefined]
}

function isSamePattern(one: Document, other: Document): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
