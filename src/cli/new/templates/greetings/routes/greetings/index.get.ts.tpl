import { array, number, object } from 'mortar/yup'
import { greetingSchema } from '../../greeting-schemas.ts'
import { route } from '../../route.ts'
import { Greetings } from '../../schema.ts'

export default route(
  {
    summary: 'List the greetings, newest first',
    tags: ['greetings'],
    query: object({ limit: number().integer().min(1).max(100).default(20) }),
    response: { 200: array(greetingSchema).required() },
  },
  (ctx) =>
    ctx.db.getRepository(Greetings).find({ order: { created_at: 'DESC', id: 'ASC' }, take: ctx.query.limit }),
)
