import { Router } from '@koa/router'
import type { Context, User } from 'mortar'
import { EntitySchema, type DataSource } from 'typeorm'

/** A row of `books`: a book that a user keeps. */
interface Book {
  id: number
  owner_id: string
  title: string
}

export const Books = new EntitySchema<Book>({
  name: 'books',
  columns: {
    id: { type: Number, primary: true, generated: true },
    owner_id: { type: String, length: 255 },
    title: { type: String, length: 200 },
  },
})

/** The state that Mortar sets in `ctx.state` of Koa. */
interface State {
  readonly user: User
  readonly mortar: Context & { readonly db: DataSource }
}

/** A router of an existing Koa application. It uses only two things from Mortar: the members of `ctx.state`. */
export const books = new Router<State>({ prefix: '/books' })

books.use(async (ctx, next) => {
  await next()
  ctx.set('Cache-Control', 'private')
})

books.param('id', async (id, ctx, next) => {
  const { user, mortar } = ctx.state
  const book = await mortar.db.getRepository(Books).findOneBy({ id: Number(id) || 0, owner_id: user.id })
  if (book === null) return ctx.throw(404, `There is no book ${id}.`)
  ctx['book'] = book
  return next()
})

books.get('/', async (ctx) => {
  const { user, mortar } = ctx.state
  ctx.body = await mortar.db.getRepository(Books).findBy({ owner_id: user.id })
})

books.post('/', async (ctx) => {
  const { user, mortar } = ctx.state
  const { title } = (ctx.request as { body?: { title?: unknown } }).body ?? {}
  if (typeof title !== 'string') return ctx.throw(400, 'A book needs a title.')
  const book = await mortar.db.getRepository(Books).save({ owner_id: user.id, title })
  ctx.status = 201
  ctx.set('Location', String(ctx.router.url('book', book.id)))
  ctx.body = book
})

books.get('book', '/:id', (ctx) => {
  ctx.body = ctx['book'] as Book
})
