import { expect } from 'chai'
import { createRouter, defineBrick } from 'mortar'
import { recent } from '@mortar/auth/recent'
import { ticket } from '@mortar/auth/ticket'
import { createPinoLogger } from '../../../../src/app/log/pino-logger.ts'
import type { Client } from '../support/client.ts'
import { onEachDatabase } from '../support/on-each-store.ts'
import {
  ADA,
  inWorld as onSqlite,
  PASSWORD,
  SECRET,
  settle,
  signedUp,
  type World,
  type WorldOptions,
} from '../support/world.ts'

const routes = createRouter()
  .get('/who/:room', { auth: true }, ({ user }) => user)
  .post('/who/:room', { auth: true }, ({ user }) => user)
  .get('/fresh', { auth: 'fresh' }, () => 'fresh')
const WITH_TICKET: WorldOptions = {
  withFeatures: true,
  auth: { features: [ticket(), recent()] },
  bricks: [defineBrick({ name: 'who', routes: [routes] })],
}

async function ticketFor(client: Client, path: string): Promise<string> {
  const { status, body, text } = await client.post('/auth/ticket', { path })
  expect(status, text).to.equal(200)
  expect(body).to.have.all.keys('ticket', 'expiresIn')
  expect(body.expiresIn).to.equal(30)
  return body.ticket
}

const at = (path: string, token: string) => `${path}?access_token=${encodeURIComponent(token)}`
const use = async (world: World, path: string, token: string) =>
  (await world.client().get(at(path, token))).status

onEachDatabase('A ticket', (inWorld) => {
  it('is the identity of its session for one of 32 concurrent requests of its path', () =>
    inWorld(WITH_TICKET, async (world) => {
      const client = await signedUp(world)
      world.clock.advance(60)
      await client.post('/auth/refresh')
      const { body: user } = await client.get('/who/a')
      expect(user.session).to.have.all.keys('id', 'authenticatedAt', 'methods')
      const token = await ticketFor(client, '/who/a')
      const answers = await Promise.all(
        Array.from({ length: 32 }, () => world.client().get(at('/who/a', token))),
      )
      const served = answers.filter(({ status }) => status === 200)
      expect(served.map(({ body }) => body)).to.deep.equal([user])
      expect(served[0]!.headers['cache-control']).to.equal('no-store')
      const refused = answers.filter(({ status }) => status === 401)
      expect(refused).to.have.length(31)
      expect(refused[0]!.body.code).to.equal('invalid_token')
      expect(await use(world, '/who/a', token)).to.equal(401)
    }))

  it('is refused at another path, by another method, after 30 seconds, and is deleted later', () =>
    inWorld(WITH_TICKET, async (world) => {
      const client = await signedUp(world)
      const token = await ticketFor(client, '/who/a')
      for (const path of ['/who/b', '/who/A', '/who/a/', '/who/%61', '/private'])
        expect(await use(world, path, token), path).to.equal(401)
      expect((await world.client().post(at('/who/a', token))).status).to.equal(401)
      const bearer = { authorization: `Bearer ${token}` }
      expect((await world.client().get('/who/a', bearer)).status).to.equal(401)
      expect((await world.app.inject({ method: 'HEAD', url: at('/who/a', token) })).statusCode).to.equal(401)
      const late = await ticketFor(client, '/who/a')
      world.clock.advance(29)
      expect(await use(world, '/who/a', token)).to.equal(200)
      world.clock.advance(1)
      expect(await use(world, '/who/a', late)).to.equal(401)
      world.clock.advance(3600)
      await world.client().post('/auth/login', ADA)
      await settle(world)
      expect(await world.storage.rows('auth_challenges')).to.deep.equal([])
    }))

  it('ends with its session: logout, a new password, signOut, disable and a confirmation', () =>
    inWorld(WITH_TICKET, async (world) => {
      await signedUp(world)
      const { authProvider } = world.app.services as unknown as {
        authProvider: Record<'signOut' | 'disable', (userId: string) => Promise<unknown>>
      }
      const ends: Readonly<Record<string, (client: Client, id: string) => Promise<unknown>>> = {
        logout: (client) => client.post('/auth/logout'),
        confirm: (client) => client.post('/auth/confirm', { password: PASSWORD }),
        'a new password': (client) =>
          client.post('/auth/change-password', { current: PASSWORD, next: PASSWORD }),
        signOut: (_client, id) => authProvider.signOut(id),
        disable: (_client, id) => authProvider.disable(id),
      }
      for (const [name, end] of Object.entries(ends)) {
        const client = world.client()
        const { body } = await client.post('/auth/login', ADA)
        const token = await ticketFor(client, '/who/a')
        await end(client, body.user.id)
        expect(await use(world, '/who/a', token), name).to.equal(401)
      }
    }))
})

describe('A ticket', () => {
  it('keeps the age of the proof', () =>
    onSqlite(WITH_TICKET, async (world) => {
      const client = await signedUp(world)
      expect(await use(world, '/fresh', await ticketFor(client, '/fresh'))).to.equal(200)
      world.clock.advance(601)
      await client.post('/auth/refresh')
      expect(await use(world, '/fresh', await ticketFor(client, '/fresh'))).to.equal(403)
    }))

  it('belongs to the path as a browser sends it, and needs a path alone', () =>
    onSqlite(WITH_TICKET, async (world) => {
      const client = await signedUp(world)
      expect(await use(world, '/who/%C3%A4', await ticketFor(client, '/who/ä'))).to.equal(200)
      expect(await use(world, '/who/a', await ticketFor(client, '/who/b/../a'))).to.equal(200)
      for (const path of ['', 'who', '/who?a=1', '/who#a', '/\\who', '/who a', 7, `/${'a'.repeat(2048)}`])
        expect((await client.post('/auth/ticket', { path })).status, String(path)).to.equal(422)
    }))

  it('needs a signed-in user, and counts by user', () =>
    onSqlite({ ...WITH_TICKET, limited: true }, async (world) => {
      expect((await world.client().post('/auth/ticket', { path: '/who/a' })).status).to.equal(401)
      const client = await signedUp(world)
      const token = await ticketFor(client, '/auth/ticket')
      expect((await world.client().post(at('/auth/ticket', token), { path: '/who/a' })).status).to.equal(401)
      for (let count = 1; count < 60; count++) await ticketFor(client, '/who/a')
      expect((await client.post('/auth/ticket', { path: '/who/a' })).status).to.equal(429)
      const events = world.typesOf().filter((type) => type.startsWith('auth.ticket'))
      expect(events.slice(-2)).to.deep.equal(['auth.ticket.issued', 'auth.ticket.limited'])
    }))

  it('does not end sessions of its user', () =>
    onSqlite(WITH_TICKET, async (world) => {
      const client = await signedUp(world)
      const token = await ticketFor(client, '/auth/me')
      const answer = await world.client().get(at('/auth/me', token))
      expect(answer.body.email).to.equal(ADA.email)
      expect((await client.get('/private')).status).to.equal(200)
    }))

  it('that was made up, or sealed by another secret, costs no statement', () =>
    onSqlite(WITH_TICKET, async (world) => {
      const token = await onOther((other) => signedUp(other).then((client) => ticketFor(client, '/who/a')))
      const seen: string[] = []
      world.storage.interruptions.gate = (statement) => void seen.push(String(statement))
      const [keyId, sealed = ''] = token.split('.')
      for (const each of [
        token,
        sealed,
        `${keyId}.`,
        `.${sealed}`,
        '.',
        'a.b.c',
        `${keyId}.${'A'.repeat(400)}`,
      ])
        expect(await use(world, '/who/a', each), each).to.equal(401)
      expect(seen.filter((statement) => statement !== 'select ended sessions')).to.deep.equal([])
    }))

  it('is in no line of the log', async () => {
    const lines: string[] = []
    const logger = createPinoLogger('trace', false, { write: (line) => void lines.push(line) })
    await onSqlite({ ...WITH_TICKET, app: { logger, logRequests: true } }, async (world) => {
      const client = await signedUp(world)
      const token = await ticketFor(client, '/who/a')
      const { text } = await client.post('/auth/ticket', { path: '/who/b' })
      for (const path of ['/who/b', '/who/a', '/who/a', '/nowhere']) await use(world, path, token)
      logger.info({ answer: JSON.parse(text), url: at('/who/a', token) }, text)
      logger.info(at('ws://localhost/who/a', token))
      for (const secret of [token, JSON.parse(text).ticket as string])
        for (const part of secret.split('.')) expect(lines.join(''), part).to.not.include(part)
      expect(lines.join('')).to.include('auth.ticket.issued').and.include('"/who/a"')
    })
  })

  it('is refused without the feature', () =>
    onSqlite({ ...WITH_TICKET, auth: { features: [recent()] } }, async (world) => {
      const token = await onOther(
        (other) => signedUp(other).then((client) => ticketFor(client, '/who/a')),
        SECRET,
      )
      expect(await use(world, '/who/a', token)).to.equal(401)
      expect((await (await signedUp(world)).post('/auth/ticket', { path: '/who/a' })).status).to.equal(404)
    }))
})

/** Runs work in an application of its own, with another secret. */
async function onOther<T>(work: (world: World) => Promise<T>, secret = `another ${SECRET}`): Promise<T> {
  let result: T
  await onSqlite({ ...WITH_TICKET, auth: { ...WITH_TICKET.auth, secret } }, async (world) => {
    result = await work(world)
  })
  return result!
}
