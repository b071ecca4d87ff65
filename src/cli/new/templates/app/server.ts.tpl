import { join } from 'node:path'
import { loadRoutes, processShare } from 'mortar'
import { settings } from './config/settings.ts'
import { app } from './app.ts'

await loadRoutes(app, join(import.meta.dirname, 'routes'))
const { url } = await app.listen(settings.port, settings.host)
// `npm run dev` prints the address itself.
const isFirst = processShare().number === 1
if (settings.environment === 'production' && isFirst) process.stdout.write(`{{title}} listens at ${url}\n`)
