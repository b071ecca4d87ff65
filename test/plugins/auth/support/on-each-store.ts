import { MONGO_TARGETS } from '../../../support/mongo.ts'
import { onMongo } from './document-storage.ts'
import { KINDS } from '../../database/databases.ts'
import { onPlace, RELATIONAL } from './relational-storage.ts'
import { openWorld, within, type InWorld } from './world.ts'

const VARIANTS = [RELATIONAL, ...MONGO_TARGETS.map(onMongo)]

/**
 * A `describe` for each variant with e-mail and password: the same tests on a relational database and on a document
 * database, since nothing but the line of the provider may differ.
 */
export function onEachStore(title: string, body: (inWorld: InWorld) => void): void {
  for (const variant of VARIANTS)
    describe(`${title} (${variant.name})`, () => {
      before(() => variant.start?.())
      after(() => variant.stop?.())
      body((options, test) => within(() => openWorld(options, variant), test))
    })
}

/** The same on every database: SQLite, the servers that are there, and documents. */
export function onEachDatabase(title: string, body: (inWorld: InWorld) => void): void {
  onEachStore(title, body)
  for (const [kind, makePlace] of Object.entries(KINDS))
    if (kind !== 'SQLite')
      describe(`${title} (${kind})`, () => {
        const variant = onPlace(kind, makePlace())
        body((options, test) => within(() => openWorld(options, variant), test))
      })
}
