/** Workload g: Mortar with a database file and the auth brick, as many users as asked for, limits off. */
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { passwordOf, SECRET } from '../work/data.js'
import { importMortar } from '../work/mortar-entry.js'

export async function start(app, users) {
  const mortar = await createLoginApp(users)
  const { port } = await mortar.listen(0, '127.0.0.1')
  return { port }
}

/** The application, with its users signed up. */
export async function createLoginApp(users) {
  const [{ createApp, createRouter }, { database }, { auth }, { basicAuth }, schema] = await Promise.all([
    importMortar('mortar'),
    importMortar('@mortar/database'),
    importMortar('@mortar/auth'),
    importMortar('@mortar/auth/basic'),
    importMortar('@mortar/auth/basic/schema'),
  ])
  const folder = mkdtempSync(join(tmpdir(), 'mortar-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'file.txt')
  await writeFile(file, 'x'.repeat(16_384))
  const router = createRouter()
  router.get('/', () => ({ hello: 'world' }))
  router.get('/file', () => readFile(file))
  const { AuthUsers, AuthRefreshTokens, AuthResetTokens, AuthEndedSessions } = schema
  const entities = [AuthUsers, AuthRefreshTokens, AuthResetTokens, AuthEndedSessions]
  const mortar = createApp({ environment: 'production', logger: false, openapi: false })
    .use(database({ type: 'better-sqlite3', database: join(folder, 'app.db'), entities, synchronize: true }))
    .use(auth(basicAuth({ secret: SECRET, appUrl: 'https://example.com', limits: false })))
    .use(router)
  await mortar.ready()
  for (let index = 0; index < users; index++) await signUp(mortar, index)
  return mortar
}

async function signUp(mortar, index) {
  const payload = { name: `User ${index}`, email: `user${index}@example.com`, password: passwordOf(index) }
  const { statusCode, body } = await mortar.inject({ method: 'POST', url: '/auth/signup', payload })
  if (statusCode !== 201) throw new Error(`Sign-up answered ${statusCode}: ${body}`)
}
