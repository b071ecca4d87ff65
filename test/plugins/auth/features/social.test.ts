import { expect } from 'chai'
import { basicAuth } from '@mortar/auth/basic'
import { emailVerification } from '@mortar/auth/email-verification'
import { notices } from '@mortar/auth/notices'
import { github, google, oidc, social } from '@mortar/auth/social'
import { totpCode } from '@mortar/auth/testing'
import { accountCommands } from '../../../../plugins/auth/commands.ts'
import type { AccountMail } from '../../../../plugins/auth/features/mails.ts'
import { browse } from '../hosted/support/oidc-server.ts'
import { failureOf } from '../support/failure-of.ts'
import { onEachDatabase, onEachStore } from '../support/on-each-store.ts'
import {
  ADA,
  inWorld as onSqlite,
  PASSWORD,
  resetTokenFor,
  SECRET,
  settle,
  signedUp,
} from '../support/world.ts'
import { startRealIssuer } from './support/real-issuer.ts'
import {
  claimsOf,
  CLIENT,
  GRACE,
  meOf,
  providerOf,
  refresh,
  refused,
  socialScene,
  targetOf,
} from './support/social-scene.ts'

describe('social()', () => {
  const scene = socialScene()
  const { withSocial, visit } = scene

  onEachDatabase('sign-in', (inWorld) => {
    it('makes an account at the first visit, and knows it by issuer and subject whatever its address becomes', () =>
      inWorld(withSocial(), async (world) => {
        const client = world.client()
        const answer = await visit(client, GRACE, {}, '/auth/social/company?return=/notes%3Fpage=2')
        expect(targetOf(answer)).to.equal('302 /notes?page=2')
        expect([answer.headers['cache-control'], answer.headers['referrer-policy']]).to.deep.equal([
          'no-store',
          'no-referrer',
        ])
        const me = await meOf(client)
        expect([me['email'], me['name']]).to.deep.equal(['grace@example.com', 'Grace Hopper'])
        expect((me.raw as Record<string, unknown>)['email_verified_at']).to.be.a('string')
        expect(claimsOf(client)['amr']).to.deep.equal(['fed'])
        expect(await refresh(client)).to.equal(200)
        expect(claimsOf(client)['amr']).to.deep.equal(['fed'])
        const again = world.client()
        await visit(again, { ...GRACE, email: ADA.email, name: 'Somebody' })
        expect((await meOf(again)).id).to.equal(me.id)
        expect(world.typesOf().filter((type) => type.startsWith('auth.social'))).to.deep.equal([
          'auth.social.succeeded',
          'auth.social.succeeded',
        ])
      }))

    it('links nobody to an account that has the address; a user who is signed in links, and unlinks', () =>
      inWorld(withSocial(), async (world) => {
        const client = await signedUp(world)
        const person = { ...GRACE, email: ADA.email }
        const stranger = world.client()
        expect(targetOf(await visit(stranger, person))).to.equal(refused('account_exists'))
        expect(await refresh(stranger)).to.equal(401)

        const begun = await client.post('/auth/social/company/link', { return: '/settings' })
        expect(begun.status, begun.text).to.equal(200)
        const back = await client.get(await scene.issuer.signIn(begun.body.url, person))
        expect(targetOf(back)).to.equal('302 /settings')
        const { accounts } = (await client.get('/auth/accounts')).body
        expect(accounts).to.have.length(1)
        expect([accounts[0].provider, accounts[0].email]).to.deep.equal(['company', ADA.email])
        expect(targetOf(await visit(stranger, person))).to.equal('302 /')
        expect((await meOf(stranger)).id).to.equal((await meOf(client)).id)

        expect((await client.delete(`/auth/accounts/${accounts[0].id}`)).status).to.equal(204)
        expect((await client.delete(`/auth/accounts/${accounts[0].id}`)).status).to.equal(404)
        expect((await client.post('/auth/login', ADA)).status).to.equal(200)
      }))

    it('keeps the last way in, also of 16 concurrent deletions and of an issuer in another spelling', () => {
      const issuer = `${scene.issuer.url}/`
      const providers = [oidc({ name: 'company', issuer, trustEmail: true, ...CLIENT })]
      return inWorld(withSocial({ providers }), async (world) => {
        const client = world.client()
        await visit(client)
        await meOf(client)
        const { accounts } = (await client.get('/auth/accounts')).body
        const answers = await Promise.all(
          Array.from({ length: 16 }, () => client.delete(`/auth/accounts/${accounts[0].id}`)),
        )
        for (const { status, body } of answers)
          if (status !== 404) expect([status, body.code]).to.deep.equal([409, 'last_way_in'])
        expect((await client.get('/auth/accounts')).body.accounts).to.have.length(1)
      })
    })

    it('makes one account in 16 concurrent first visits', () =>
      inWorld(withSocial(), async (world) => {
        const clients = Array.from({ length: 16 }, () => world.client())
        const targets = await Promise.all(clients.map(async (client) => targetOf(await visit(client))))
        expect(targets.filter((target) => target === '302 /')).to.have.length.of.at.least(1)
        for (const target of targets) expect(target).to.be.oneOf(['302 /', refused('sign_in_again')])
        expect(targetOf(await visit(world.client()))).to.equal('302 /')
      }))
  })

  onEachStore('an identity whose user is gone', (inWorld) => {
    it('gets a new account, and finds it from then on', () =>
      inWorld(withSocial(), async (world) => {
        await visit(world.client())
        await world.storage.deleteUsers()
        const [client, again] = [world.client(), world.client()]
        expect(targetOf(await visit(client))).to.equal('302 /')
        expect(targetOf(await visit(again))).to.equal('302 /')
        expect((await meOf(again)).id).to.equal((await meOf(client)).id)
      }))
  })

  it('takes away what was linked before a reset has proven the address', () =>
    onSqlite(withSocial(), async (world) => {
      // Somebody has registered the address of another at an issuer that proves nothing.
      const attacker = world.client()
      const person = { sub: 'attacker', email: ADA.email, email_verified: true }
      expect(targetOf(await visit(attacker, person, {}, '/auth/social/guests'))).to.equal('302 /')
      await meOf(attacker)
      const token = await resetTokenFor(world)
      const owner = world.client()
      expect((await owner.post('/auth/reset-password', { token, password: PASSWORD })).status).to.equal(200)
      expect((await owner.post('/auth/login', ADA)).status).to.equal(200)
      expect(targetOf(await visit(world.client(), person, {}, '/auth/social/guests'))).to.equal(
        refused('account_exists'),
      )
      expect((await owner.get('/auth/accounts')).body.accounts).to.deep.equal([])
    }))

  it('links by a proven address only with linkVerified, and only when both sides have proven it', () =>
    onSqlite(withSocial({ linkVerified: true }), async (world) => {
      await signedUp(world)
      const person = { ...GRACE, email: ADA.email }
      expect(targetOf(await visit(world.client(), person))).to.equal(refused('account_exists'))
      const token = await resetTokenFor(world)
      await world.client().post('/auth/reset-password', { token, password: PASSWORD })
      const unproven = { ...person, email_verified: false }
      expect(targetOf(await visit(world.client(), unproven))).to.equal(refused('account_exists'))
      expect(targetOf(await visit(world.client(), person, {}, '/auth/social/guests'))).to.equal(
        refused('account_exists'),
      )
      expect(targetOf(await visit(world.client(), person))).to.equal('302 /')
    }))

  it('mails a link for the address of a new account, unless the provider has proven it', () => {
    const mails: AccountMail[] = []
    const options = withSocial()
    const features = [...options.auth!.features!, emailVerification()]
    const sendMail = (mail: AccountMail) => mails.push(mail)
    return onSqlite({ ...options, auth: { ...options.auth, features, sendMail } }, async (world) => {
      expect(targetOf(await visit(world.client()))).to.equal('302 /')
      const guest = { ...GRACE, sub: '77', email: 'guest@example.com' }
      expect(targetOf(await visit(world.client(), guest, {}, '/auth/social/guests'))).to.equal('302 /')
      await settle(world)
      expect(mails.map(({ kind, to }) => `${kind} ${to}`)).to.deep.equal(['verify-email guest@example.com'])
    })
  })

  it('makes no account with signUp: false, and none without an address', () =>
    onSqlite(withSocial({ signUp: false }), async (world) => {
      expect(targetOf(await visit(world.client()))).to.equal(refused('no_account'))
      const { email: _email, ...nameless } = GRACE
      expect(targetOf(await visit(world.client(), nameless))).to.equal(refused('email_missing'))
    }))

  it('signs in with GitHub by the number of the user and the proven primary address', () =>
    onSqlite(withSocial(), async (world) => {
      const emails = [
        { email: 'old@example.com', primary: false, verified: true },
        { email: 'grace@example.com', primary: true, verified: true },
      ]
      const client = world.client()
      expect(targetOf(await visit(client, { sub: '77', emails }, {}, '/auth/social/github'))).to.equal(
        '302 /',
      )
      const me = await meOf(client)
      expect([me['email'], me['name']]).to.deep.equal(['grace@example.com', 'ada'])
      expect((me.raw as Record<string, unknown>)['email_verified_at']).to.be.a('string')
    }))

  it('asks for the second factor of an account, on a page of the application', () =>
    onSqlite(withSocial({}, { totp: true }), async (world) => {
      const client = world.client()
      await visit(client)
      await meOf(client)
      const { secret } = (await client.post('/auth/totp')).body as { secret: string }
      const set = await client.post('/auth/totp/confirm', { code: totpCode(secret, world.clock) })
      expect(set.status, set.text).to.equal(200)
      world.clock.advance(30)
      const other = world.client()
      const { status, headers } = await visit(other)
      const target = new URL(String(headers['location']), scene.issuer.url)
      expect([status, target.pathname, target.searchParams.get('error')]).to.deep.equal([
        302,
        '/sign-in',
        'second_factor_required',
      ])
      expect(await refresh(other)).to.equal(401)
      const challenge = new URLSearchParams(target.hash.slice(1)).get('challenge')
      const code = totpCode(secret, world.clock)
      expect((await other.post('/auth/login/factor', { challenge, code })).status).to.equal(200)
      expect(claimsOf(other)['amr']).to.deep.equal(['fed', 'otp', 'mfa'])
    }))

  it('finishes for a proven address what a crash has left behind, and for nobody else', () =>
    onSqlite(withSocial(), async (world) => {
      // The process ends between the statement that creates the user and the one that links it.
      world.storage.interruptions.afterwards('insert users', async () =>
        world.storage.interruptions.failAlways(),
      )
      expect((await visit(world.client())).status).to.equal(500)
      world.storage.interruptions.failAt(0)
      const guest = await visit(world.client(), GRACE, {}, '/auth/social/guests')
      expect(targetOf(guest)).to.equal(refused('account_exists'))
      expect(targetOf(await visit(world.client()))).to.equal('302 /')
      expect(await world.storage.users()).to.have.length(1)
      expect(targetOf(await visit(world.client(), { ...GRACE, sub: 'another' }))).to.equal(
        refused('account_exists'),
      )
    }))

  it('counts no provider that was removed as a way in, and forgets it when the address has an owner', () =>
    onSqlite({ ...withSocial(), file: true }, async (world) => {
      await visit(world.client())
      const emails = [{ email: 'grace@example.com', primary: true, verified: true }]
      const [{ user_id: early }] = await world.storage.rows('auth_accounts')
      const providers = [github({ url: scene.issuer.url, ...CLIENT })]
      await onSqlite({ ...withSocial({ providers }), file: world.file }, async (later) => {
        const { linked } = providerOf(later).accounts
        const command = (name: string, values = {}) =>
          accountCommands('basic')[name]!.run({ positionals: [early], values }, later.app.services)
        expect((await command('linked')).json)
          .to.have.property('linked')
          .with.length(1)
        expect((await failureOf(() => command('unlink', { id: 'another' }))).code).to.equal(
          'MORTAR_AUTH_ACCOUNTS',
        )
        expect(await failureOf(() => command('unlink'))).to.be.instanceOf(RangeError)
        expect(
          targetOf(await visit(later.client(), { sub: '77', emails }, {}, '/auth/social/github')),
        ).to.equal('302 /')
        const rows = await later.storage.rows('auth_accounts')
        expect(rows.map(({ user_id: id, provider }) => [id, provider])).to.deep.equal([[early, 'github']])
        const [{ id }] = rows
        expect((await command('unlink', { id })).json).to.include({ removed: true })
        expect(await linked!.list(early)).to.deep.equal([])
      })
    }))

  it('has one event and one notice for an identity that is linked twice, and for its end by an operator', () => {
    const kinds: string[] = []
    const base = withSocial()
    const features = [...base.auth!.features!, notices()]
    const options = {
      ...base,
      auth: { ...base.auth, features, sendMail: ({ kind }: AccountMail) => kinds.push(kind) },
    }
    return onSqlite(options, async (world) => {
      const client = await signedUp(world)
      for (let count = 0; count < 2; count++) {
        const { url } = (await client.post('/auth/social/company/link', {})).body as { url: string }
        expect(targetOf(await client.get(await scene.issuer.signIn(url, GRACE)))).to.equal('302 /')
      }
      await settle(world)
      expect(kinds).to.deep.equal(['account-linked'])
      const [{ id, user_id: user }] = await world.storage.rows('auth_accounts')
      const unlink = accountCommands('basic')['unlink']!
      await unlink.run({ positionals: [user], values: { id } }, world.app.services)
      await settle(world)
      expect(kinds).to.deep.equal(['account-linked', 'account-unlinked'])
      const events = world.events.filter(({ type }) => type.startsWith('auth.account'))
      expect(events.map(({ type, event }) => [type, event['userId'], 'sessionId' in event])).to.deep.equal([
        ['auth.account.linked', user, true],
        ['auth.account.unlinked', user, false],
      ])
    })
  })

  it('explains a limit at the callback on a page of the application', () =>
    onSqlite({ ...withSocial(), limited: true }, async (world) => {
      const client = world.client()
      const callbacks: string[] = []
      const begun = await client.get('/auth/social/company')
      callbacks.push(await scene.issuer.signIn(String(begun.headers['location']), GRACE))
      for (let count = 0; count < 60; count++) await world.client().get('/auth/social/company')
      expect(targetOf(await client.get(callbacks[0]!))).to.equal(refused('too_many_requests'))
    }))

  it('links nothing to a disabled account', () =>
    onSqlite(withSocial({ linkVerified: true }), async (world) => {
      const { id } = await meOf(await signedUp(world))
      const token = await resetTokenFor(world)
      await world.client().post('/auth/reset-password', { token, password: PASSWORD })
      await providerOf(world).disable(id)
      expect(targetOf(await visit(world.client(), { ...GRACE, email: ADA.email }))).to.equal(
        refused('account_exists'),
      )
      expect(await world.storage.rows('auth_accounts')).to.deep.equal([])
    }))

  it('signs in at oidc-provider, with claims of its userinfo endpoint', async () => {
    const redirectUri = 'http://localhost:3000/auth/social/company/callback'
    const real = await startRealIssuer({ ...CLIENT, redirectUri })
    const providers = [
      oidc({ name: 'company', issuer: real.issuer, trustEmail: true, maxAge: 600, ...CLIENT }),
    ]
    try {
      await onSqlite(withSocial({ providers }), async (world) => {
        const client = world.client()
        const begun = await client.get('/auth/social/company')
        const back = new URL(await browse(String(begun.headers['location']), 'grace', redirectUri))
        expect(targetOf(await client.get(back.pathname + back.search))).to.equal('302 /')
        const me = await meOf(client)
        expect([me['email'], me['name']]).to.deep.equal(['grace@example.com', 'Grace Hopper'])
      })
    } finally {
      await real.close()
    }
  })

  it('refuses a disabled account', () =>
    onSqlite(withSocial(), async (world) => {
      const client = world.client()
      await visit(client)
      const { id } = await meOf(client)
      await providerOf(world).disable(id)
      expect(targetOf(await visit(world.client()))).to.equal(refused('sign_in_refused'))
    }))

  it('refuses an issuer that no column keeps', async () => {
    const issuer = `https://id.example.com/${'x'.repeat(240)}`
    const error = await failureOf(() => oidc({ name: 'company', issuer, ...CLIENT }))
    expect(error.code).to.equal('MORTAR_AUTH_OPTION')
    expect(error.message).to.include('characters')
  })

  it('knows a GitHub Enterprise by its address with and without a slash at the end', () => {
    const [one, other] = ['https://git.example.com', 'https://git.example.com/'].map((url) => {
      const { issuer, plain } = github({ url, ...CLIENT })
      return [issuer, plain!.authorizationEndpoint, plain!.tokenEndpoint]
    })
    expect(one).to.deep.equal(other)
    expect(one![0]).to.equal('https://git.example.com/login/oauth')
  })

  it('checks its options at the start', async () => {
    const wrong: readonly [() => unknown, RegExp][] = [
      [() => social({ providers: [] }), /providers of social/],
      [() => social({ providers: [google(CLIENT), google(CLIENT)] }), /'google' twice/],
      [() => google({ clientId: '', clientSecret: 'x' }), /clientId of google/],
      [() => oidc({ name: 'A b', issuer: 'https://x.example', ...CLIENT }), /not a name/],
      [() => oidc({ name: 'x', issuer: 'http://x.example', ...CLIENT }), /not an https address/],
      [() => oidc({ name: 'x', issuer: 'https://x.example', maxAge: 0, ...CLIENT }), /maxAge/],
      [() => social({ providers: [google(CLIENT)], errorPath: '//x' }), /errorPath/],
      [
        () => basicAuth({ secret: SECRET, features: [social({ providers: [google(CLIENT)] })] }),
        /without recent/,
      ],
    ]
    for (const make of [google, github]) {
      const { code } = await failureOf(() => make({ ...CLIENT, clientId: undefined as never }))
      expect(code).to.equal('MORTAR_OPTION_UNDEFINED')
    }
    for (const [run, message] of wrong) {
      const error = await failureOf(run)
      expect([error.code, message.test(error.message)], error.message).to.deep.equal([
        'MORTAR_AUTH_OPTION',
        true,
      ])
    }
  })
})
