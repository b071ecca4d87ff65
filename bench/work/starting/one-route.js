import { createApp, createRouter } from '../../../src/dist/index.js'

const router = createRouter().get('/', () => ({ hello: 'world' }))
await createApp().use(router).listen(Number(process.env.PORT), '127.0.0.1')
