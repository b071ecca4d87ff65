import { join } from 'node:path'
import { loadEnvFiles, loadRoutes, processShare } from 'mortar'

// Before the imports that read the settings. `mortar dev` and `mortar start` have done this already; a debugger that runs
// this file by itself (node --import tsx server.ts) has not.
loadEnvFiles(import.meta.dirname)
const { settings } = await import('./config/settings.ts')
const { app } = await import('./app.ts')

await loadRoutes(app, join(import.meta.dirname, 'routes'))
const { url } = await app.listen(settings.port, settings.host)
// `{{run}} dev` prints the address itself.
const line = `{{title}} listens at ${url}\n`
if (settings.environment === 'production' && processShare().number === 1) process.stdout.write(line)
