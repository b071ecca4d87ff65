/** Fastify and Drizzle. */
import { openNotes } from '../../work/notes/drizzle.js'
import { startFastify } from '../../work/notes/fastify-app.js'

export async function start(database, users) {
  return startFastify(await openNotes(database, process.env.DATABASE_URL), users)
}
