import { join } from 'node:path'
import { loadRoutes } from 'mortar'

// Before the application is imported: a database in memory and, where there are passwords, cheap hashes.
process.env['NODE_ENV'] = 'test'
const { app } = await import('../app.ts')

/** All test files share one application: it starts before the first test and closes after the last. */
export const mochaHooks = {
  beforeAll: () => loadRoutes(app, join(import.meta.dirname, '../routes')),
  afterAll: () => app.close(),
}
