import { object, string } from 'mortar/yup'
import { route } from '../route.ts'

export default route(
  {
    summary: 'Who is signed in',
    tags: ['users'],
    auth: true,
    response: { 200: object({ id: string().required(), role: string().required() }) },
  },
  ({ user }) => ({ id: user.id, role: user.raw.role }),
)
