import { expect } from 'chai'
import { recent } from '@mortar/auth/recent'
import type { AuthFeature } from '@mortar/auth/provider'
import { accountCommands } from '../../../../../plugins/auth/commands.ts'
import { notices } from '@mortar/auth/notices'
import { startupErrorOf } from '../../../../support/startup-error-of.ts'
import { onEachStore } from '../../support/on-each-store.ts'
import { challengeFor, enrolled, WITH_TOTP } from '../../support/second-factor.ts'
import {
  ADA,
  inWorld as onSqlite,
  settle,
  signedUp,
  type World,
  type WorldOptions,
} from '../../support/world.ts'

const COMMANDS = accountCommands('basic')
const run = ({ app }: World, name: string, ...positionals: string[]) =>
  COMMANDS[name]!.run({ positionals, values: {} }, app.services)

onEachStore('Operators', (inWorld) => {
  it('see who has a second factor', () =>
    inWorld(WITH_TOTP, async (world) => {
      await enrolled(world)
      const eve = world.client()
      await eve.post('/auth/signup', { ...ADA, email: 'eve@example.com' })
      await eve.post('/auth/totp')
      const { json, text } = await run(world, 'users')
      const { users } = json as { users: { email: string; hasFactor: boolean }[] }
      expect(users.map(({ email, hasFactor }) => [email, hasFactor])).to.deep.equal([
        [ADA.email, true],
        ['eve@example.com', false],
      ])
      expect(text)
        .to.match(/ada@example.com .* second factor/)
        .and.not.match(/eve@example.com .* second/)
      expect((await run(world, 'users')).text).to.not.match(/[A-Z2-7]{32}/)
    }))

  it('remove a lost factor, and tell its owner', () => {
    const kinds: string[] = []
    const auth: WorldOptions['auth'] = {
      features: [...WITH_TOTP.auth!.features!, notices()],
      sendMail: ({ kind }) => kinds.push(kind),
    }
    return inWorld({ ...WITH_TOTP, auth }, async (world) => {
      await enrolled(world)
      await challengeFor(world.client())
      expect((await run(world, 'remove-factor', ADA.email)).json).to.include({ removed: true })
      expect((await run(world, 'remove-factor', ADA.email)).json).to.include({ removed: false })
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
      await settle(world)
      expect(kinds).to.deep.equal(['factor-added', 'factor-removed'])
      expect(world.typesOf().filter((type) => type === 'auth.factor.removed')).to.have.length(1)
      expect(await world.storage.rows('auth_recovery_codes')).to.deep.equal([])
    })
  })
})

describe('Operators', () => {
  it('have neither command without totp(), and users have no member for it', () =>
    onSqlite({ auth: { features: [recent()] } }, async (world) => {
      await signedUp(world)
      const { json } = await run(world, 'users')
      expect(JSON.stringify(json)).to.not.include('hasFactor')
      for (const [name, ...names] of [['reseal'], ['remove-factor', ADA.email]])
        expect((await startupErrorOf(() => run(world, name!, ...names))).code).to.equal(
          'MORTAR_AUTH_ACCOUNTS',
        )
    }))
})

describe('The endpoints of totp()', () => {
  const documentOf = async (features: readonly AuthFeature[]) => {
    let document: { paths: Record<string, object> } | undefined
    await onSqlite({ auth: { features }, withFeatures: true, app: { openapi: {} } }, async (world) => {
      document = (await world.client().get('/openapi.json')).body
    })
    return document!.paths
  }

  it('are described, and change three others alone', async () => {
    const without = await documentOf([recent()])
    const paths = await documentOf(WITH_TOTP.auth!.features!)
    const added = Object.keys(paths).filter((path) => without[path] === undefined)
    expect(added).to.have.members(
      ['login/factor', 'totp', 'totp/confirm', 'totp/remove', 'recovery-codes'].map(
        (path) => `/auth/${path}`,
      ),
    )
    const changed = Object.keys(without).filter(
      (path) => JSON.stringify(without[path]) !== JSON.stringify(paths[path]),
    )
    expect(changed).to.have.members(['/auth/login', '/auth/change-password', '/auth/confirm'])
    expect(JSON.stringify(without)).to.not.match(/recoveryCode|second_factor|challenge/)
    for (const path of added) expect(JSON.stringify(paths[path])).to.match(/"operationId".*"429"/)
  })
})
