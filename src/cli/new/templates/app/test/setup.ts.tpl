import { join } from 'node:path'
import { loadRoutes } from 'mortar'

// Set before the import of the application: test mode uses a database in memory and cheap password hashes.
process.env['NODE_ENV'] = 'test'
const { app } = await import('../app.ts')

/** All test files share one application: it starts before the first test and closes after the last. */
export const mochaHooks = {
  beforeAll: async () => {
    await loadRoutes(app, join(import.meta.dirname, '../routes'))
    await app.ready()
  },
  afterAll: () => app.close(),
}
