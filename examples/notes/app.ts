import { createApp, scoped } from 'mortar'
import { config } from './config/index.ts'
import { NoteService } from './note-service.ts'

export const app = createApp(config).provide({
  notes: scoped(({ db, user }) => new NoteService(db, user)),
})
