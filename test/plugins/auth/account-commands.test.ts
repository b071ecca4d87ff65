import { expect } from 'chai'
import { audit } from '@mortar/auth/audit'
import { accountCommands } from '../../../plugins/auth/commands.ts'
import type { BrickCommandInput, Cradle } from 'mortar'
import { startupErrorOf } from '../../support/startup-error-of.ts'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, settle, signedUp, type World } from './support/world.ts'

const COMMANDS = accountCommands('basic')
const run = (
  { app }: Pick<World, 'app'>,
  name: string,
  positionals: readonly string[],
  values: BrickCommandInput['values'] = {},
) => COMMANDS[name]!.run({ positionals, values }, app.services)

onEachStore('The commands of mortar auth', (inWorld) => {
  it('find an account by id and address, and show no hash', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const { json, text } = await run(world, 'users', [], { search: ADA.email.slice(0, 3).toUpperCase() })
      const { users } = json as { users: { id: string; email: string }[] }
      expect(users.map(({ email }) => email)).to.deep.equal([ADA.email])
      expect(JSON.stringify(json) + text).to.not.match(/hash|argon2|bcrypt|\$2/i)
      for (const key of [users[0]!.id, ADA.email, ` ${ADA.email.toUpperCase()}`])
        expect((await run(world, 'sessions', [key])).text).to.include(' active ')
      for (const key of ['nobody', "x'; drop table auth_users", '@', "o'hara@example.com"])
        expect((await startupErrorOf(() => run(world, 'disable', [key]))).code).to.equal(
          'MORTAR_AUTH_ACCOUNTS',
        )
    }))

  it('list accounts by address, in pages', () =>
    inWorld({}, async (world) => {
      for (const name of ['cy', 'ada', 'bob'])
        await world.client().post('/auth/signup', { ...ADA, email: `${name}@example.com` })
      const listed = async (values: BrickCommandInput['values']) => {
        const { users } = (await run(world, 'users', [], values)).json as { users: { email: string }[] }
        return users.map(({ email }) => email)
      }
      const [ada, bob, cy] = ['ada@example.com', 'bob@example.com', 'cy@example.com']
      expect(await listed({})).to.deep.equal([ada, bob, cy])
      expect(await listed({ limit: '2' })).to.deep.equal([ada, bob])
      expect(await listed({ limit: '2', after: bob })).to.deep.equal([cy])
      expect(await listed({ search: '@EXAMPLE', limit: '1', after: ada })).to.deep.equal([bob])
    }))

  it('end one session, or every one, and disable and enable', () =>
    inWorld({}, async (world) => {
      const [first, second] = [await signedUp(world), world.client()]
      await second.post('/auth/login', ADA)
      const { json } = await run(world, 'sessions', [ADA.email])
      const [{ id: newest }] = (json as { sessions: [{ id: string }] }).sessions
      await run(world, 'sign-out', [ADA.email], { session: newest })
      const missing = () => run(world, 'sign-out', [ADA.email], { session: 'of-another-user' })
      expect((await startupErrorOf(missing)).message).to.include("has no session 'of-another-user'")
      const statuses = async () => [
        (await first.get('/private')).status,
        (await second.get('/private')).status,
      ]
      expect(await statuses()).to.have.members([200, 401])
      await run(world, 'sign-out', [ADA.email])
      expect(await statuses()).to.deep.equal([401, 401])
      await run(world, 'disable', [ADA.email])
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(401)
      expect((await startupErrorOf(() => run(world, 'reset-link', [ADA.email]))).message).to.include(
        'is disabled',
      )
      await run(world, 'enable', [ADA.email])
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
    }))

  it('delete an account with --yes alone', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      await world.client().post('/auth/signup', { ...ADA, email: 'eve@example.com' })
      await run(world, 'delete', [ADA.email]).then(
        () => expect.fail('it was deleted'),
        (error: Error) => expect(error).to.be.instanceOf(RangeError),
      )
      expect(await world.storage.users()).to.have.length(2)
      // Both attempts of the clean-up after the account was disabled.
      world.storage.interruptions.reject('delete sessions', 'disk full', 2)
      const { json } = await run(world, 'delete', [ADA.email], { yes: true })
      expect(json).to.include({ deleted: true })
      expect((await world.storage.users()).map(({ email }) => email)).to.deep.equal(['eve@example.com'])
      expect(await world.storage.sessions()).to.have.length(1)
    }))

  it('list the events of an account, with audit() alone', () =>
    inWorld({ withFeatures: true, auth: { features: [audit()] } }, async (world) => {
      await signedUp(world)
      await world.client().post('/auth/signup', { ...ADA, email: 'eve@example.com' })
      await settle(world)
      const { json, text } = await run(world, 'audit', [], { user: ADA.email })
      const { entries } = json as { entries: { event: string }[] }
      expect(entries.map(({ event }) => event)).to.deep.equal(['auth.signup.succeeded'])
      expect(text).to.include('auth.signup.succeeded')
      expect((await run(world, 'audit', [], { user: 'nobody' })).text).to.equal('No events.')
      expect((await run(world, 'audit', [], { limit: '1' })).json)
        .to.have.property('entries')
        .with.length(1)
      await inWorld({}, async (without) => {
        expect((await startupErrorOf(() => run(without, 'audit', []))).message).to.include('log of events')
      })
    }))

  it('print a link that sets a new password once, and delete what has expired', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const { text } = await run(world, 'reset-link', [ADA.email])
      const token = new URL(text).searchParams.get('token')
      const reset = { token, password: 'another horse battery' }
      expect((await world.client().post('/auth/reset-password', reset)).status).to.be.oneOf([200, 204])
      expect((await world.client().post('/auth/reset-password', reset)).status).to.equal(401)
      await world.client().post('/auth/login', { ...ADA, password: reset.password })
      world.clock.advance(40 * 86_400)
      expect((await run(world, 'prune', [])).json).to.include({ sessions: 1, resetTokens: 0 })
    }))
})

describe('The commands of mortar auth', () => {
  it('declare the options that their lines of help show', () => {
    for (const [name, { usage, options = {} }] of Object.entries(COMMANDS))
      expect(Object.keys(options), name).to.have.members(
        [...usage.matchAll(/--([a-z-]+)/g)].map(([, option]) => option),
      )
  })

  it('refuse a name that they do not take', async () => {
    const services = { authProvider: { accounts: {} } } as unknown as Cradle
    for (const [name, { usage, run: act }] of Object.entries(COMMANDS)) {
      const positionals = usage.startsWith('USER') ? [ADA.email, ADA.email] : [ADA.email]
      const error = await Promise.resolve(act({ positionals, values: {} }, services)).catch(
        (reason: unknown) => reason,
      )
      expect(error, name).to.be.instanceOf(RangeError)
    }
  })

  it('belong to providers that store accounts', async () => {
    const services = { authProvider: {} } as unknown as Cradle
    const hosted = accountCommands('hosted')['users']!
    const { message } = await startupErrorOf(() => hosted.run({ positionals: [], values: {} }, services))
    expect(message).to.include("The auth provider 'hosted' keeps its accounts elsewhere.")
  })
})
