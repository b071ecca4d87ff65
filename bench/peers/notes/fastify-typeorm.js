/** Fastify and TypeORM. */
import 'reflect-metadata'
import { DataSource } from 'typeorm'
import { startFastify } from '../../work/notes/fastify-app.js'
import { listNotes, Notes, sourceOptions } from '../../work/notes/typeorm.js'

export async function start(database, users) {
  const source = await new DataSource(sourceOptions(database, process.env.DATABASE_URL)).initialize()
  const repository = source.getRepository(Notes)
  return startFastify((owner, filter) => listNotes(repository, owner, filter), users)
}
