import { noteInput, noteSchema } from '../../note-schemas.ts'
import { route } from '../../route.ts'

export default route(
  { auth: true, summary: 'Write a note', tags: ['notes'], body: noteInput, response: { 201: noteSchema } },
  async (ctx) => {
    const note = await ctx.services.notes.create(ctx.body)
    ctx.status = 201
    ctx.set('Location', `/notes/${note.id}`)
    return note
  },
)
