/** AdonisJS 6 with Lucid: VineJS for the query, a model, jsonwebtoken in a middleware, as its guide to custom guards does. */
import 'reflect-metadata'
import { Ignitor } from '@adonisjs/core'
import { defineConfig as defineBodyParser } from '@adonisjs/core/bodyparser'
import { defineConfig as defineHttp } from '@adonisjs/core/http'
import { BaseModel, column } from '@adonisjs/lucid/orm'
import { defineConfig as defineDatabase } from '@adonisjs/lucid'
import vine from '@vinejs/vine'
import jwt from 'jsonwebtoken'
import { KEY, signTokens } from '../../work/by-hand.js'
import { ISSUER, SECRET } from '../../work/data.js'

class Note extends BaseModel {
  static table = 'notes'
}
const serialize = (time) => time.toUTC().toISO()
for (const [name, decorate] of [
  ['id', column({ isPrimary: true })],
  ['owner_id', column({ serializeAs: null })],
  ['title', column()],
  ['text', column()],
  ['archived', column({ consume: Boolean })],
  ['created_at', column.dateTime({ serializeAs: 'created_at', serialize })],
  ['updated_at', column.dateTime({ serializeAs: 'updated_at', serialize })],
])
  decorate(Note.prototype, name)

const filter = vine.compile(
  vine.object({
    archived: vine.boolean().parse((value) => value ?? false),
    limit: vine
      .number()
      .withoutDecimals()
      .range([1, 100])
      .parse((value) => value ?? 20),
    offset: vine
      .number()
      .withoutDecimals()
      .min(0)
      .parse((value) => value ?? 0),
  }),
)

async function requireUser(ctx, next) {
  const token = /^Bearer (.+)$/.exec(ctx.request.header('authorization') ?? '')?.[1]
  try {
    ctx.user = jwt.verify(token, KEY, { algorithms: ['HS256'], issuer: ISSUER, audience: ISSUER })
  } catch {
    return ctx.response.unauthorized({ error: 'unauthorized' })
  }
  return next()
}

async function listNotes({ request, user }) {
  const { archived, limit, offset } = await request.validateUsing(filter, { data: request.qs() })
  const mine = () => Note.query().where('owner_id', user.sub).where('archived', archived)
  const [notes, [{ $extras }]] = await Promise.all([
    mine().orderBy('created_at', 'desc').orderBy('id').limit(limit).offset(offset),
    mine().count('* as total'),
  ])
  return { notes: notes.map((note) => note.serialize()), total: Number($extras.total) }
}

function connectionOf(database, url) {
  if (database === 'postgres') return { client: 'pg', connection: url }
  return {
    client: 'better-sqlite3',
    connection: { filename: url.slice('sqlite:'.length) },
    useNullAsDefault: true,
  }
}

export async function start(database, users) {
  Object.assign(process.env, { PORT: '0', HOST: '127.0.0.1' })
  const ignitor = new Ignitor(new URL('./', import.meta.url), { importer: (path) => import(path) })
  ignitor.tap((app) => {
    app.rcContents({
      providers: [
        () => import('@adonisjs/core/providers/app_provider'),
        () => import('@adonisjs/core/providers/vinejs_provider'),
        () => import('@adonisjs/lucid/database_provider'),
      ],
    })
    app.useConfig({
      bodyparser: defineBodyParser({}),
      app: { appKey: SECRET, http: defineHttp({ generateRequestId: false }) },
      logger: { default: 'app', loggers: { app: { enabled: false } } },
      database: defineDatabase({
        connection: 'main',
        connections: { main: connectionOf(database, process.env.DATABASE_URL) },
      }),
    })
    void app.booted(async () => {
      const router = await app.container.make('router')
      router.use([() => import('@adonisjs/core/bodyparser_middleware')])
      router.get('/notes', listNotes).use(requireUser)
    })
  })
  await ignitor.httpServer().start()
  const { default: server } = await import('@adonisjs/core/services/server')
  return { port: server.getNodeServer().address().port, tokens: signTokens(users) }
}
