import { number, object } from 'mortar/yup'
import { route } from '../../route.ts'
import { AuthUsers, Notes } from '../../schema.ts'

export default route(
  {
    auth: 'admin',
    summary: 'Count users and notes',
    tags: ['admin'],
    response: { 200: object({ users: number().required(), notes: number().required() }).label('Statistics') },
  },
  async (ctx) => ({
    users: await ctx.db.getRepository(AuthUsers).count(),
    notes: await ctx.db.getRepository(Notes).count(),
  }),
)
