import { createApp, env, scoped } from 'mortar'
import { auth } from 'mortar/auth'
import { basicAuth } from 'mortar/auth/basic'
import { database } from 'mortar/database'
import { mail } from 'mortar/mail'
import { NoteService } from './note-service.ts'
import * as schema from './schema.ts'

export const app = createApp()
  .use(database({ type: 'better-sqlite3', database: 'data/app.db', entities: schema }))
  .use(mail({ from: 'Notes <notes@example.com>' }))
  .use(auth(basicAuth({ secret: env.secret('AUTH_SECRET') }), { policies: { admin: () => true } }))
  .provide({ notes: scoped(({ db, user }) => new NoteService(db, user)) })
