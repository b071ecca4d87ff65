import { queryBoolean } from 'mortar'
import { number, object } from 'mortar/yup'
import { noteList } from '../../note-schemas.ts'
import { route } from '../../route.ts'

export default route(
  {
    auth: true,
    summary: 'List your notes, newest first',
    tags: ['notes'],
    query: object({
      archived: queryBoolean().default(false),
      limit: number().integer().min(1).max(100).default(20),
      offset: number().integer().min(0).default(0),
    }),
    response: { 200: noteList },
  },
  (ctx) => ctx.services.notes.list(ctx.query),
)
