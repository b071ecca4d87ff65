import { defineRoute } from '../../../src/index.ts'
import { currentUser } from './shapes.ts'

/** `GET /auth/me`: the user of the access token. */
export const meRoute = defineRoute(
  {
    summary: 'The signed-in user',
    operationId: 'currentUser',
    auth: true,
    response: { 200: currentUser },
  },
  ({ user }) => ({ id: user.id, name: user.name, email: user.email, raw: user.raw }),
)
