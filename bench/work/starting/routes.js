/* Ten routes with schemas, no brick. */
import { number, object, string } from 'yup'
import { createApp, createRouter } from '../../../src/dist/index.js'

const router = createRouter().get('/', () => ({ hello: 'world' }))
for (let index = 0; index < 10; index++)
  router.get(
    `/items${index}/:id`,
    { params: object({ id: number().required() }), response: { 200: object({ name: string().required() }) } },
    () => ({ name: 'item' }),
  )
await createApp().use(router).listen(Number(process.env.PORT), '127.0.0.1')
