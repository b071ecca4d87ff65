/** Fastify and the bare driver: better-sqlite3, or pg. */
import { openNotes } from '../../work/notes/drivers.js'
import { startFastify } from '../../work/notes/fastify-app.js'

export async function start(database, users) {
  return startFastify(await openNotes(database, process.env.DATABASE_URL), users)
}
