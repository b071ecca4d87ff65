import { MONGO_TARGETS } from '../../../support/mongo.ts'
import { onMongo } from './document-storage.ts'
import { RELATIONAL } from './relational-storage.ts'
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
