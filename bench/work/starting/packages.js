/* What any application with TypeORM and better-sqlite3 pays before code of its own. */
import { createServer } from 'node:http'

await import('better-sqlite3')
await import('typeorm')
createServer((_, response) => response.end()).listen(Number(process.env.PORT), '127.0.0.1')
