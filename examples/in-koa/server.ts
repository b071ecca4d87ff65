import { env } from 'mortar'
import { app } from './app.ts'
import { site } from './site.ts'

await app.ready()
const server = site.listen(
  env.number('PORT', { default: 3000 }),
  env.string('HOST', { default: '127.0.0.1' }),
)
process.once('SIGTERM', () => server.close(() => void app.close()))
