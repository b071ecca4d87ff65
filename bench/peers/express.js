/** Express 5, validated with zod; jsonwebtoken, helmet and cors as its users take them. */
import express from 'express'
import jwt from 'jsonwebtoken'
import { KEY, signTokens } from '../work/by-hand.js'
import { createOrder, findUser, ISSUER, publicOrder, publicUser, routePrefix } from '../work/data.js'
import { issuesOf, order, params, query } from '../work/zod-schemas.js'

function check(res, inputs) {
  const values = {}
  const errors = []
  for (const [location, [schema, input]] of Object.entries(inputs)) {
    const { success, data, error } = schema.safeParse(input)
    if (success) values[location] = data
    else errors.push(...issuesOf(location, error))
  }
  if (errors.length === 0) return values
  res.status(422).json({ errors })
  return undefined
}

function answerUser(req, res) {
  const input = check(res, { params: [params, req.params], query: [query, req.query] })
  if (input) res.json(publicUser(findUser(input.params.id, input.query)))
}

function requireUser(req, res, next) {
  const token = /^Bearer (.+)$/.exec(req.get('authorization') ?? '')?.[1]
  try {
    req.user = jwt.verify(token, KEY, { algorithms: ['HS256'], issuer: ISSUER, audience: ISSUER }).user
  } catch {
    return res.status(401).json({ error: 'unauthorized' })
  }
  next()
}

const APPS = {
  hello: (app) => app.get('/', (req, res) => res.json({ hello: 'world' })),
  user: (app) => app.get('/users/:id', answerUser),
  order: (app) =>
    app.post('/orders', express.json(), (req, res) => {
      const input = check(res, { body: [order, req.body] })
      if (input) res.status(201).json(publicOrder(createOrder(input.body)))
    }),
  me: (app) =>
    app.get('/me', requireUser, (req, res) => {
      const { id, name, email } = req.user
      res.json({ id, name, email })
    }),
  routes: (app, size) => {
    for (let index = 0; index < size; index++) app.get(`${routePrefix(index)}/:id`, answerUser)
  },
  middleware: async (app) => {
    const [{ default: helmet }, { default: cors }, { randomUUID }] = await Promise.all([
      import('helmet'),
      import('cors'),
      import('node:crypto'),
    ])
    app.use(helmet(), cors({ origin: 'https://example.com' }), (req, res, next) => {
      res.set('X-Request-Id', req.get('X-Request-Id') || randomUUID())
      next()
    })
    app.get('/users/:id', answerUser)
  },
}

export async function start(name, size) {
  const app = express()
  await APPS[name](app, size)
  app.use((error, req, res, next) => {
    if (res.headersSent) return next(error)
    res.status(error.status ?? 500).json({ error: error.message })
  })
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { port: server.address().port, tokens: name === 'me' ? signTokens(size) : [] }
}
