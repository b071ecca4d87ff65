import { expect } from 'chai'
import { StartupError } from 'mortar'
import { COMMON_PASSWORDS_COUNT } from '../../../../plugins/auth/passwords/weak-passwords/common-passwords-data.ts'
import { onEachStore } from '../support/on-each-store.ts'
import { ADA, inWorld, PASSWORD, resetTokenFor, signedUp, type World } from '../support/world.ts'
import type { Answer } from '../support/client.ts'

const LOVELACE = { name: 'Ada Lovelace', email: 'ada.king@analytical-engine.example' }

const COMMON = [
  'password',
  '12345678',
  'baseball',
  'Trustno1',
  'PASSWORD1',
  'ｐａｓｓｗｏｒｄ',
  'ᴾassword',
  ' iloveyou ',
]
const PATTERNS = [
  '        ',
  'aaaaaaaa',
  '🔑🔑🔑🔑🔑🔑🔑🔑',
  'abababab',
  'xyz9xyz9x',
  'abcdefgh',
  'IHGFEDCBA',
  'qwertzuiop',
  'asdfghjk',
  'azerty123',
  '1qaz2wsx3edc',
  'qweasdzxc',
  '!@#$%^&*',
  'x'.repeat(256),
]
const OWN_WORDS = [
  'adalovelace',
  'Lovelace1815',
  'lovelace lovelace',
  'Ada.King1',
  'ada.king@analytical-engine.example',
  'analytical!',
  'ANALYTICAL-ENGINE',
]
const APP_WORDS = ['notebook99', 'Mortarnotes1']
const GOOD = [
  PASSWORD,
  'qwert asdf 7 horses',
  'lovelace and the seven dwarfs',
  'abcd efgh ijkl',
  'aab b c aab',
  'tr0ub4dor&3',
  '8 letter',
  'abyxnmcd12',
]

const signUp = (world: World, password: string): Promise<Answer> =>
  world.client().post('/auth/signup', { ...LOVELACE, password })

function isRefused(answer: Answer, path: string, reason: RegExp): void {
  expect(answer.status, answer.text).to.equal(422)
  expect(answer.body.code).to.equal('validation_failed')
  expect(answer.body.errors).to.have.length(1)
  expect(answer.body.errors[0]).to.include({ location: 'body', path })
  expect(answer.body.errors[0].message).to.match(reason)
}

onEachStore('weak passwords', (inStore) => {
  it('are refused by signup, change-password and reset-password, which keeps its token', () =>
    inStore({}, async (world) => {
      const client = await signedUp(world)
      isRefused(await signUp(world, 'password'), 'password', /most common/)
      const change = (next: string) => client.post('/auth/change-password', { current: PASSWORD, next })
      isRefused(await change('12345678'), 'next', /most common/)
      isRefused(await change('ada@example.com'), 'next', /your name or your e-mail address/)
      expect((await change('another horse battery')).status).to.equal(200)
      const token = await resetTokenFor(world)
      const reset = (password: string) => world.client().post('/auth/reset-password', { token, password })
      isRefused(await reset('iloveyou'), 'password', /most common/)
      isRefused(await reset('ada@example.com'), 'password', /your name or your e-mail address/)
      expect((await reset('yet another horse')).status).to.equal(200)
    }))
})

describe('weak passwords', () => {
  const options = {
    app: { appUrl: 'https://notebook.example.com' },
    auth: { passwordWords: ['Mortar Notes'], secureCookie: false },
  }
  const refused: [string, readonly string[], RegExp][] = [
    ['common ones, in any case and width', COMMON, /most common/],
    ['repetitions and sequences', PATTERNS, /repeats or continues|most common/],
    ['the words of the user', OWN_WORDS, /your name or your e-mail address/],
    ['the words of the application', APP_WORDS, /the name of this service/],
  ]
  for (const [what, passwords, reason] of refused)
    it(`are ${what}`, () =>
      inWorld(options, async (world) => {
        for (const password of passwords) isRefused(await signUp(world, password), 'password', reason)
      }))

  it('are the words of the address that the provider has, in place of that of the application', () =>
    inWorld(
      { ...options, auth: { ...options.auth, appUrl: 'https://ledgerbook.example.org' } },
      async (world) => {
        isRefused(await signUp(world, 'ledgerbook12'), 'password', /the name of this service/)
        expect((await signUp(world, 'notebook12')).status).to.equal(201)
      },
    ))

  it('contain nothing else', () =>
    inWorld(options, async (world) => {
      for (const [n, password] of GOOD.entries()) {
        const answer = await world
          .client()
          .post('/auth/signup', { ...LOVELACE, email: `${n}@example.com`, password })
        expect(answer.status, password).to.equal(201)
      }
    }))

  it('pass with refuseWeakPasswords: false', () =>
    inWorld({ auth: { refuseWeakPasswords: false } }, async (world) =>
      expect((await signUp(world, 'password')).status).to.equal(201),
    ))

  it('cost their owner no try, and their network one', () =>
    inWorld({ limited: true, app: { trustProxy: ['127.0.0.1'] } }, async (world) => {
      const sign = (password: string, ip: string) =>
        world.client().post('/auth/signup', { ...ADA, password }, { 'x-forwarded-for': ip })
      const statuses = []
      for (let n = 0; n < 21; n++) statuses.push((await sign('password', '192.0.2.1')).status)
      expect(statuses).to.deep.equal([...Array.from({ length: 20 }, () => 422), 429])
      expect((await sign(PASSWORD, '192.0.2.2')).status).to.equal(201)
    }))

  it('cost their site one too', () => {
    const signup = { ip: { limit: 9, window: '1m' }, site: { limit: 2, window: '1m' } } as const
    const app = { trustProxy: ['127.0.0.1'] }
    return inWorld({ limited: true, app, auth: { limits: { signup } } }, async (world) => {
      const statuses = []
      for (let n = 0; n < 3; n++) {
        const from = { 'x-forwarded-for': `2001:db8:7:${n}::1` }
        statuses.push(
          (await world.client().post('/auth/signup', { ...ADA, password: 'password' }, from)).status,
        )
      }
      expect(statuses).to.deep.equal([422, 422, 429])
    })
  })

  it('cost no try of change-password, whose current password was right', () =>
    inWorld({ limited: true }, async (world) => {
      const client = await signedUp(world)
      const change = (next: string) => client.post('/auth/change-password', { current: PASSWORD, next })
      for (let n = 0; n < 6; n++) expect((await change('password')).status).to.equal(422)
      expect((await change('another horse')).status).to.equal(200)
    }))

  it('are not looked for at login', () =>
    inWorld({ file: true, auth: { refuseWeakPasswords: false } }, async (before) => {
      await signUp(before, 'password')
      await inWorld({ file: before.file }, async (world) => {
        const login = { email: LOVELACE.email, password: 'password' }
        expect((await world.client().post('/auth/login', login)).status).to.equal(200)
      })
    }))

  it('are compared with a list of more than the 3,000 of ASVS 6.2.4', () => {
    expect(COMMON_PASSWORDS_COUNT).to.equal(17_950)
  })
})

describe('the options about weak passwords', () => {
  for (const [what, auth] of Object.entries({
    'a passwordRule that is not a function': { passwordRule: /horse/ as never },
    'passwordWords that are one string': { passwordWords: 'mortar' as never },
    'passwordWords with a number': { passwordWords: [1984] as never },
  }))
    it(`stop the start for ${what}`, async () => {
      const refused: unknown = await inWorld({ auth }, async () => undefined).catch((error: unknown) => error)
      expect(refused).to.be.instanceOf(StartupError).and.include({ code: 'MORTAR_OPTION_TYPE' })
    })
})

describe('passwordRule', () => {
  const seen: unknown[] = []
  const passwordRule = async (password: string, user: object) => {
    seen.push(user)
    return password.includes('horse') ? undefined : 'Mention a horse.'
  }

  it('gives the reason of its refusal, and receives the user who chooses the password', () =>
    inWorld({ auth: { passwordRule } }, async (world) => {
      seen.length = 0
      isRefused(await signUp(world, 'without the animal'), 'password', /^Mention a horse\.$/)
      const client = await signedUp(world)
      const { id } = (await client.get('/auth/me')).body
      const token = await resetTokenFor(world)
      isRefused(
        await world.client().post('/auth/reset-password', { token, password: 'without the animal' }),
        'password',
        /horse/,
      )
      expect(seen).to.deep.equal([
        LOVELACE,
        { name: ADA.name, email: ADA.email },
        { id, name: ADA.name, email: ADA.email },
      ])
    }))

  it('is not asked about a password that another rule refuses', () =>
    inWorld({ auth: { passwordRule } }, async (world) => {
      seen.length = 0
      await signUp(world, 'password')
      expect(seen).to.deep.equal([])
    }))

  for (const verdict of [true, false, null, '', 1])
    it(`lets no password pass with ${JSON.stringify(verdict)}, which says nothing`, () =>
      inWorld({ auth: { passwordRule: () => verdict as never } }, async (world) =>
        expect((await signUp(world, PASSWORD)).status).to.equal(500),
      ))
})
