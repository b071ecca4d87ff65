/* Starts the compiled reference application, which migrates its database: `node migrate.js <app.js>`. */
import { pathToFileURL } from 'node:url'

const { app } = await import(pathToFileURL(process.argv[2]).href)
await app.ready()
await app.close()
