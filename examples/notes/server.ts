import { join } from 'node:path'
import { loadRoutes, processShare } from 'mortar'
import { settings } from './config/settings.ts'
import { app } from './app.ts'

const start = performance.now()
await loadRoutes(app, join(import.meta.dirname, 'routes'))
const listening = await app.listen(settings.port, settings.host)

const ready = Math.round(performance.now() - start)
// The same host name as in mail links, because a browser keeps cookies of 127.0.0.1 and localhost apart.
const url = listening.url.replace('127.0.0.1', 'localhost')
const lines = [
  `Notes          ${url}`,
  `Documentation  ${url}/docs`,
  ...(settings.environment === 'production' ? [] : [`Mail           ${url}/_framework/mail`]),
  `${app.routes.length} routes, ready in ${ready} ms`,
]
// With several workers, only the first prints the addresses.
if (processShare().number === 1) process.stdout.write(`${lines.join('\n')}\n`)
