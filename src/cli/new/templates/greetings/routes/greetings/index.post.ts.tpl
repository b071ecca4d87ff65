import { randomUUID } from 'node:crypto'
import { greetingInput, greetingSchema } from '../../greeting-schemas.ts'
import { route } from '../../route.ts'
import { Greetings } from '../../schema.ts'

export default route(
  {
    summary: 'Leave a greeting',
    tags: ['greetings'],
    body: greetingInput,
    response: { 201: greetingSchema },
  },
  async (ctx) => {
    const greeting = { id: randomUUID(), created_at: new Date(), ...ctx.body }
    await ctx.db.getRepository(Greetings).insert(greeting)
    ctx.status = 201
    return greeting
  },
)
