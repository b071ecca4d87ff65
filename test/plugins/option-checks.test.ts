import { expect } from 'chai'
import { type AnyBrick, createApp, defineBrick, StartupError, value } from 'mortar'
import { auth } from '@mortar/auth'
import { account } from '@mortar/auth/account'
import { audit } from '@mortar/auth/audit'
import { basicAuth } from '@mortar/auth/basic'
import { emailVerification } from '@mortar/auth/email-verification'
import { passkeys } from '@mortar/auth/passkeys'
import { recent } from '@mortar/auth/recent'
import { sessions } from '@mortar/auth/sessions'
import { github, google, oidc, social } from '@mortar/auth/social'
import { totp } from '@mortar/auth/totp'
import { documentAuth } from '@mortar/auth-document'
import { auth0, clerk, cognito, firebase, hostedAuth, keycloak, supabase } from '@mortar/auth-hosted'
import { libraryAuth } from '@mortar/auth-library'
import { database } from '@mortar/database'
import { limits } from '@mortar/limits'
import { mail } from '@mortar/mail'
import { metrics } from '@mortar/metrics'
import { redis } from '@mortar/redis'
import { webhookEvent, webhooks } from '@mortar/webhooks'
import { object } from 'yup'
import { loggerTo } from '../app/recorder.ts'

const secret = 'a secret that is long enough for every test here'
const library = { handler: () => new Response(), api: { getSession: () => null } }
const hosted = { issuer: 'https://issuer.example', audience: 'api' }
const client = { clientId: 'a', clientSecret: 'b' }

interface Call {
  readonly take: (options: never) => unknown
  /** The required options. */
  readonly given: object
  readonly near: object
  readonly wrong: object
  /** Options that must not be undefined by a slip. */
  readonly guards?: readonly string[]
}

/** @param slips a misspelt option and one of another type. */
const call = (
  take: (options: never) => unknown,
  given: object,
  slips: readonly [near: object, wrong: object],
  guards: readonly string[] = [],
): Call => ({ take, given, near: slips[0], wrong: slips[1], guards })

const withSettings = (settings: object): unknown =>
  database({ type: 'better-sqlite3', database: ':memory:' }, settings)
const withLibrary = (options: object): unknown => libraryAuth(library as never, options)
const withProvider = (options: object): unknown => auth(hostedAuth(hosted), options)

/** Every function of the bricks that accepts options. */
const CALLS: Readonly<Record<string, Call>> = {
  'auth()': call(withProvider, {}, [{ polices: {} }, { policies: 'admin' }]),
  'basicAuth()': call(
    basicAuth,
    { secret },
    [{ refreshTokenLifetme: '1d' }, { freshSession: 'yes' }],
    ['passwordRule'],
  ),
  'cost of basicAuth()': call((cost) => basicAuth({ secret, cost }), {}, [
    { memry: 19_456 },
    { passes: '2' },
  ]),
  'recent()': call(recent, {}, [{ withn: '5m' }, { within: true }]),
  'sessions()': call(sessions, {}, [{ places: () => 'x' }, { place: 'x' }]),
  'emailVerification()': call(emailVerification, {}, [{ lifetme: '1d' }, { verifiedOnly: 'yes' }]),
  'account()': call(account, {}, [{ graces: '1d' }, { eraseData: 'yes' }]),
  'audit()': call(audit, { keep: '30d' }, [{ kept: '30d' }, { keep: true }]),
  'passkeys()': call(passkeys, {}, [{ rpid: 'x' }, { origins: 'https://x.example' }]),
  'totp()': call(totp, {}, [{ issuers: 'x' }, { issuer: 5 }]),
  'social()': call(social, { providers: [google(client)] }, [{ signup: true }, { signUp: 'yes' }]),
  'github()': call(github, client, [{ uri: 'x' }, { url: 5 }]),
  'oidc()': call(oidc, { name: 'x', issuer: 'https://x.example', ...client }, [
    { scopes: 'x' },
    { scope: 5 },
  ]),
  'documentAuth()': call(
    documentAuth,
    { secret },
    [{ createIndexs: true }, { createIndexes: 'no' }],
    ['passwordRule'],
  ),
  'hostedAuth()': call(
    hostedAuth,
    hosted,
    [{ audiance: 'x' }, { claims: 'x' }],
    ['audience', 'audienceClaim', 'authorizedParties', 'claims', 'algorithms', 'types', 'toUser'],
  ),
  'auth0()': call(
    auth0,
    { domain: 'x', audience: 'y' },
    [{ domian: 'x' }, { audience: 5 }],
    ['domain', 'audience'],
  ),
  'clerk()': call(
    clerk,
    { frontendApi: 'https://x.example', authorizedParties: ['y'] },
    [{ authorisedParties: [] }, { authorizedParties: 'y' }],
    ['frontendApi', 'authorizedParties', 'audience'],
  ),
  'cognito()': call(
    cognito,
    { region: 'a', userPoolId: 'b', clientId: 'c' },
    [{ clientID: 'c' }, { clientId: 5 }],
    ['region', 'userPoolId', 'clientId'],
  ),
  'firebase()': call(firebase, { projectId: 'x' }, [{ projectID: 'x' }, { projectId: 5 }], ['projectId']),
  'keycloak()': call(
    keycloak,
    { url: 'https://x.example', realm: 'y', audience: 'z' },
    [{ realms: 'y' }, { authorizedParties: 'z' }],
    ['url', 'realm', 'audience', 'authorizedParties'],
  ),
  'supabase()': call(supabase, { url: 'https://x.example' }, [{ uri: 'x' }, { url: 5 }], ['url']),
  'libraryAuth()': call(withLibrary, {}, [{ basepath: '/x' }, { signOut: true }]),
  'metrics()': call(metrics, {}, [{ tokens: 'x' }, { prefix: 1 }]),
  'mail()': call(mail, { from: 'a@example.com' }, [{ transprot: 'memory' }, { timeout: {} }]),
  'outbox of mail()': call((outbox) => mail({ from: 'a@example.com', outbox }), {}, [
    { sizes: 5 },
    { size: 'five' },
  ]),
  'limits()': call(limits, { store: 'memory' }, [{ stores: 'redis' }, { rules: 'search' }]),
  'redis()': call(redis, { url: 'redis://localhost' }, [{ urls: 'x' }, { startTimeout: {} }]),
  'database()': call(database, { type: 'better-sqlite3', database: ':memory:' }, [
    { migration: [] },
    { migrate: 'yes' },
  ]),
  'the settings of database()': call(withSettings, {}, [{ migrat: true }, { migrate: 'yes' }]),
}

function errorOf(work: () => unknown): StartupError {
  try {
    work()
  } catch (error) {
    if (error instanceof StartupError) return error
    throw error
  }
  throw new Error('No StartupError was thrown.')
}

describe('Options of bricks and providers', () => {
  for (const [name, { take, given, near, wrong, guards = [] }] of Object.entries(CALLS)) {
    it(`are accepted by ${name} as documented, and may be undefined if that does not weaken security`, () => {
      expect(() => take(given as never)).not.to.throw()
      expect(() => take({ ...given, ...undefinedKeys(wrong, guards) } as never)).not.to.throw()
    })

    it(`of ${name} reject an unknown key and suggest the similar name`, () => {
      const misspelt = errorOf(() => take({ ...given, ...near } as never))
      expect(misspelt.code).to.equal('MORTAR_OPTION_UNKNOWN')
      expect(misspelt.message)
        .to.contain(`'${Object.keys(near)[0]}'`)
        .and.to.contain('Did you mean')
      expect(misspelt.stack).to.contain('option-checks.test.ts')
      expect(errorOf(() => take({ ...given, zzzzzzzz: 1 } as never)).code).to.equal('MORTAR_OPTION_UNKNOWN')
    })

    it(`of ${name} reject a value of another type`, () => {
      expect(errorOf(() => take({ ...given, ...wrong } as never)).code).to.equal('MORTAR_OPTION_TYPE')
    })

    for (const guard of guards)
      it(`of ${name} reject ${guard} if it is undefined or null`, () => {
        for (const nothing of [undefined, null])
          expect(errorOf(() => take({ ...given, [guard]: nothing } as never)).code).to.equal(
            'MORTAR_OPTION_UNDEFINED',
          )
      })
  }
})

describe('A duration among the options', () => {
  const TAKEN: Readonly<Record<string, (duration: number | string) => unknown>> = {
    'within of recent()': (within) => recent({ within }),
    'lifetime of emailVerification()': (lifetime) => emailVerification({ lifetime }),
    'grace of account()': (grace) => account({ grace }),
    'keep of audit()': (keep) => audit({ keep }),
    'keyLifetime of hostedAuth()': (keyLifetime) => hostedAuth({ ...hosted, keyLifetime }),
    'coolDown of hostedAuth()': (coolDown) => hostedAuth({ ...hosted, coolDown }),
    'timeout of auth()': (timeout) => withProvider({ timeout }),
    'timeout of mail()': (timeout) => mail({ from: 'a@example.com', timeout }),
    'timeout of limits()': (timeout) => limits({ timeout }),
    'startTimeout of redis()': (startTimeout) => redis({ url: 'redis://localhost', startTimeout }),
  }
  for (const [name, take] of Object.entries(TAKEN))
    it(`is a number of seconds or text with a unit, and nothing else: ${name}`, () => {
      for (const duration of [86_400, '1d']) expect(() => take(duration), String(duration)).not.to.throw()
      for (const wrong of [true, '1 parsec'])
        expect(() => take(wrong as string), String(wrong)).to.throw(StartupError)
    })
})

describe('The time limit of a brick that is probably meant in milliseconds', () => {
  const own = defineBrick({
    name: 'own',
    services: { db: value({}), jobQueue: value({ define: () => undefined }), sideConnections: value({}) },
  })
  const connection = { status: 'ready', connect: () => undefined, on: () => undefined, off: () => undefined }
  const BRICKS: Readonly<Record<string, readonly AnyBrick[]>> = {
    'timeout of mail()': [mail({ from: 'a@example.com', timeout: 5000 })],
    'timeout of auth()': [auth(libraryAuth(library as never, { signOut: false }), { timeout: 5000 })],
    'timeout of limits()': [limits({ timeout: 5000 })],
    'timeout of webhooks()': [
      own,
      webhooks({ events: [webhookEvent('order.paid', object({}))], timeout: 5000 }),
    ],
    'startTimeout of redis()': [redis({ url: 'redis://127.0.0.1', startTimeout: 5000 })],
  }
  for (const [option, bricks] of Object.entries(BRICKS))
    it(`is logged at the start: ${option}`, async () => {
      const warnings: unknown[] = []
      const logger = loggerTo((level, given) => level === 'warn' && warnings.push(given.at(-1)))
      const app = createApp({ environment: 'test', logger, bricks } as never)
      if (option.includes('redis')) app.override({ redis: value(connection) })
      await app.ready()
      await app.close()
      expect(warnings).to.include(
        `${option} is 5000 seconds, which is more than an hour. For milliseconds write '5000ms'. ` +
          "To keep the seconds without this warning, write '5000s'.",
      )
    })
})

function undefinedKeys(options: object, guards: readonly string[]): object {
  const keys = Object.keys(options).filter((key) => !guards.includes(key))
  return Object.fromEntries(keys.map((key) => [key, undefined]))
}
