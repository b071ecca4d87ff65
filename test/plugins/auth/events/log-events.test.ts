import { expect } from 'chai'
import type { EventBus, Logger } from 'mortar'
import type { AuthEvents } from '@mortar/auth'
import { EVENT_TYPES, FEATURE_EVENT_TYPES } from '../support/event-types.ts'
import { ADA, inWorld, PASSWORD, resetTokenFor, settle, signedUp, type World } from '../support/world.ts'

interface Line {
  readonly level: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

function recorder() {
  const lines: Line[] = []
  const at = (level: string) => (fields: object | string, message?: string) =>
    void lines.push(
      typeof fields === 'string'
        ? { level, fields: {}, message: fields }
        : { level, fields: fields as Line['fields'], message: message ?? '' },
    )
  const logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  } as unknown as Logger
  return { lines, logger }
}

const bus = (world: World) =>
  world.app.events.typed<AuthEvents>() as unknown as EventBus<Record<string, object>>

describe('the log of the auth events', () => {
  it('has a line for each event, with request id, client address and ids, at a level that fits', () => {
    const { lines, logger } = recorder()
    return inWorld({ app: { logger, trustProxy: ['127.0.0.1'] } }, async (world) => {
      const headers = { 'x-forwarded-for': '192.0.2.77', 'x-request-id': 'request-77' }
      const client = world.client()
      const { body } = await client.post('/auth/signup', ADA, headers)
      await world.client().post('/auth/login', { ...ADA, password: 'wrong horse' }, headers)
      await client.post('/auth/refresh', undefined, { ...headers, 'sec-fetch-site': 'cross-site' })
      const events = lines.filter(({ fields }) => 'event' in fields)
      const [signup, login, csrf] = events
      expect(events).to.have.length(3)
      const origin = { requestId: 'request-77', address: '192.0.2.77' }
      const { sessionId, ...user } = signup!.fields
      expect(sessionId).to.be.a('string')
      expect(user).to.deep.equal({ event: 'auth.signup.succeeded', ...origin, userId: body.user.id })
      const { account, ...tried } = login!.fields
      expect(account).to.match(/^[\w-]{16}$/)
      expect(tried).to.deep.equal({
        event: 'auth.login.failed',
        ...origin,
        userId: body.user.id,
        reason: 'invalid_credentials',
      })
      expect(csrf!.fields).to.include({ event: 'auth.csrf.refused', path: '/auth/refresh' })
      expect(events.map(({ level }) => level)).to.deep.equal(['info', 'info', 'warn'])
      expect(events.map(({ message, fields }) => message === fields['event'])).to.not.include(false)
    })
  })

  const OUTAGES = new Set<string>([
    'auth.password.reset.mail.failed',
    'auth.mail.failed',
    'auth.sessions.unknown',
  ])

  const LEVELS: Record<string, readonly string[]> = {
    warn: [
      ...[...EVENT_TYPES, ...FEATURE_EVENT_TYPES].filter((type) => type.endsWith('.limited')),
      'auth.token.reused',
      'auth.csrf.refused',
      'auth.password.unusable',
      'auth.factor.unreadable',
      'auth.notice.denied',
      'auth.passkey.copied',
    ],
  }

  it('warns of limits, reused tokens and other origins, and of nothing that is usual', () => {
    const { lines, logger } = recorder()
    return inWorld({ app: { logger } }, async (world) => {
      lines.length = 0
      const all = [...EVENT_TYPES, ...FEATURE_EVENT_TYPES]
      const types = all.filter((type) => !OUTAGES.has(type))
      for (const type of types) bus(world).emit(type, { requestId: type })
      expect(lines.map(({ fields }) => fields['event'])).to.deep.equal(types)
      for (const { level, fields } of lines) {
        const expected = Object.entries(LEVELS).find(([, listed]) => listed.includes(String(fields['event'])))
        expect(level, String(fields['event'])).to.equal(expected?.[0] ?? 'info')
      }
    })
  })

  it('joins failures of servers, and has one line when the sessions are known again', () => {
    const { lines, logger } = recorder()
    return inWorld({ app: { logger } }, async (world) => {
      lines.length = 0
      const error = 'Error: connect ECONNREFUSED 127.0.0.1:5432'
      for (let times = 0; times < 3; times++) {
        bus(world).emit('auth.sessions.unknown', { error })
        bus(world).emit('auth.mail.failed', { error, ip: '127.0.0.1', userId: 'u1', kind: 'reset' })
      }
      bus(world).emit('auth.sessions.known', {})
      expect(lines.map(({ level }) => level)).to.deep.equal(['error', 'info'])
      expect(lines[0]!.fields).to.deep.equal({ event: 'auth.sessions.unknown', reason: error })
      expect(lines[1]!.fields).to.include({ event: 'outage.over' })
      expect(lines[1]!.fields['failures']).to.deep.equal({ 'auth.mail.failed': 3 })
    })
  })

  it('warns when the server is the reason of a failure', () => {
    const { lines, logger } = recorder()
    return inWorld({ app: { logger } }, async (world) => {
      lines.length = 0
      for (const reason of ['error', 'busy', 'invalid_credentials'])
        bus(world).emit('auth.login.failed', { reason })
      expect(lines.map(({ level }) => level)).to.deep.equal(['warn', 'warn', 'info'])
    })
  })

  it('holds no address, password or token, and tells accounts apart by a hash of this secret', async () => {
    const accounts: unknown[] = []
    for (const secret of ['one secret that is long enough for it', 'another secret that is long enough']) {
      const { lines, logger } = recorder()
      await inWorld({ auth: { secret }, app: { logger } }, async (world) => {
        const client = await signedUp(world)
        await world.client().post('/auth/login', { ...ADA, password: 'wrong horse' })
        await world.client().post('/auth/login', { ...ADA, password: 'wrong horse again' })
        await world.client().post('/auth/login', { email: 'eve@example.com', password: PASSWORD })
        const token = await resetTokenFor(world)
        await settle(world)
        const text = JSON.stringify(lines)
        for (const hidden of [ADA.email, 'eve@', PASSWORD, 'wrong horse', token, client.refreshToken!])
          expect(text).to.not.include(hidden)
        accounts.push(...lines.flatMap(({ fields }) => fields['account'] ?? []))
      })
    }
    const [one, again, eve, asked, other] = accounts
    expect([again, asked]).to.deep.equal([one, one])
    expect(new Set([one, eve, other]).size).to.equal(3)
  })

  it('is empty with logEvents: false', () => {
    const { lines, logger } = recorder()
    return inWorld({ auth: { logEvents: false }, app: { logger } }, async (world) => {
      await signedUp(world)
      expect(lines.filter(({ fields }) => 'event' in fields)).to.deep.equal([])
    })
  })
})
