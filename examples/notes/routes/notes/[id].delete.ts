import { noteParams } from '../../note-schemas.ts'
import { route } from '../../route.ts'

export default route(
  {
    auth: true,
    summary: 'Delete a note',
    tags: ['notes'],
    params: noteParams,
    problems: [404],
    response: { 204: {} },
  },
  (ctx) => ctx.services.notes.remove(ctx.params.id),
)
