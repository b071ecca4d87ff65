import { Collection } from './collection.ts'
import { CommandError } from './command-error.ts'

/** Every database of a server, in memory. Like MongoDB, a write creates its database, and other databases are empty. */
export class Databases {
  private readonly byName = new Map<string, Map<string, Collection>>()

  names(): string[] {
    return [...this.byName.keys()]
  }

  collections(database: string): ReadonlyMap<string, Collection> {
    return this.byName.get(database) ?? new Map()
  }

  /** The collection, or an empty one that is not stored. */
  read(database: string, name: string): Collection {
    return this.collections(database).get(name) ?? new Collection(`${database}.${name}`)
  }

  /** The collection, made if it is not there. */
  write(database: string, name: string): Collection {
    const collections = this.byName.get(database) ?? new Map<string, Collection>()
    const collection = collections.get(name) ?? new Collection(`${database}.${name}`)
    this.byName.set(database, collections.set(name, collection))
    return collection
  }

  /** @throws CommandError 26 when it is not there. */
  demand(database: string, name: string): Collection {
    const collection = this.collections(database).get(name)
    if (!collection) throw new CommandError(26, `ns does not exist: ${database}.${name}`)
    return collection
  }

  drop(database: string, name?: string): boolean {
    if (name === undefined) return this.byName.delete(database)
    return this.byName.get(database)?.delete(name) ?? false
  }
}
