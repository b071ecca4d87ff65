import { expect } from 'chai'
import { onEachStore } from '../support/on-each-store.ts'
import { ADA, resetTokenFor, signedUp, type World } from '../support/world.ts'

const YEAR = 365 * 86_400

/** Passwords of one kind of character each, which a rule of composition would refuse. */
const OF_ONE_KIND: Readonly<Record<string, string>> = {
  'lower case': 'horsesbatterystaple',
  'upper case': 'HORSESBATTERYSTAPLE',
  digits: '8305917264038',
  punctuation: '?;)/&,"%=(*:',
  spaces: 'a    b   c  d',
  'another script': 'пароль для проверки',
  emoji: '🐴🔋📎🎩🌍🍋🚲🎈',
}

/** Every cookie that the response sets, as `name=value`. */
function cookiesOf(headers: Readonly<Record<string, string | string[] | undefined>>): string[] {
  return [headers['set-cookie'] ?? []].flat().map((line) => line.split(';')[0]!)
}

const logIn = (world: World, email: string, password: string) =>
  world.client().post('/auth/login', { email, password })

onEachStore('Defaults that ASVS 5.0 asks for', (inWorld) => {
  it('have no account: the users table is empty, and the usual names are refused', () =>
    inWorld({}, async (world) => {
      expect(await world.storage.users()).to.deep.equal([])
      for (const name of ['admin', 'root', 'sa', 'test'])
        expect((await logIn(world, `${name}@example.com`, name.repeat(4))).status, name).to.equal(401)
    }))

  it('accept passwords of any characters, without a rule of composition', () =>
    inWorld({}, async (world) => {
      for (const [kind, password] of Object.entries(OF_ONE_KIND)) {
        const email = `${kind.replace(' ', '-')}@example.com`
        const answer = await world.client().post('/auth/signup', { name: 'Ada', email, password })
        expect(answer.status, `${kind}: ${answer.text}`).to.equal(201)
        expect((await logIn(world, email, password)).status, kind).to.equal(200)
      }
    }))

  it('let a password work for years, and ask for no change', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      world.clock.advance(5 * YEAR)
      const answer = await logIn(world, ADA.email, ADA.password)
      expect(answer.status).to.equal(200)
      expect(Object.keys(answer.body)).to.have.members(['user', 'accessToken', 'expiresIn'])
    }))

  it('set cookies of far less than 4,096 bytes', () =>
    inWorld({ app: { appUrl: 'https://app.example.com' } }, async (world) => {
      const answer = await world.client().post('/auth/signup', ADA)
      const cookies = cookiesOf(answer.headers)
      expect(cookies).to.have.length(2)
      for (const cookie of cookies) expect(Buffer.byteLength(cookie)).to.be.below(256)
    }))
})

onEachStore('Options that ASVS 5.0 asks for', (inWorld) => {
  it('end a reset token after ten minutes with resetTokenLifetime', () =>
    inWorld({ auth: { resetTokenLifetime: '10m' } }, async (world) => {
      await signedUp(world)
      const [early, late] = [await resetTokenFor(world), await resetTokenFor(world)]
      const redeem = (token: string) =>
        world.client().post('/auth/reset-password', { token, password: 'another horse battery' })
      world.clock.advance(600)
      expect((await redeem(early)).status).to.equal(401)
      world.clock.advance(-1)
      expect((await redeem(late)).status).to.equal(200)
    }))
})

onEachStore('An account that is deleted', (inWorld) => {
  it('has no session left when signOut comes first', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const [{ id }] = (await world.storage.users()) as [{ id: string }]
      const { authProvider } = world.app.services as { authProvider: { signOut(id: string): Promise<void> } }
      await authProvider.signOut(id)
      await world.storage.deleteUsers()
      expect((await client.get('/private')).status).to.equal(401)
      expect((await client.post('/auth/refresh')).status).to.equal(401)
    }))
})
