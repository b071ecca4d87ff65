import { queryBoolean } from 'mortar'
import { object, string } from 'mortar/yup'
import { route } from '../../route.ts'

export default route(
  {
    summary: 'Greet somebody',
    tags: ['hello'],
    params: object({ name: string().required().max(40) }),
    query: object({ loud: queryBoolean().default(false) }),
    response: { 200: object({ message: string().required() }) },
  },
  (ctx) => {
    const message = `Hello ${ctx.params.name}!`
    return { message: ctx.query.loud ? message.toUpperCase() : message }
  },
)
