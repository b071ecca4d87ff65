import { noteParams, noteSchema } from '../../note-schemas.ts'
import { route } from '../../route.ts'

export default route(
  {
    auth: true,
    summary: 'Read a note',
    tags: ['notes'],
    params: noteParams,
    problems: [404],
    response: { 200: noteSchema },
  },
  (ctx) => ctx.services.notes.find(ctx.params.id),
)
