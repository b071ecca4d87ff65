import { noteChanges, noteParams, noteSchema } from '../../note-schemas.ts'
import { route } from '../../route.ts'

export default route(
  {
    auth: true,
    summary: 'Change a note',
    tags: ['notes'],
    params: noteParams,
    body: noteChanges,
    problems: [404],
    response: { 200: noteSchema },
  },
  (ctx) => ctx.services.notes.change(ctx.params.id, ctx.body),
)
