// #if basic
import { randomBytes } from 'node:crypto'
// #end
import { env } from 'mortar'

/** All settings from the environment. The start reports all problems together. */
export const settings = env.all((read) => {
  const environment = read.oneOf('NODE_ENV', ['development', 'test', 'production'], {
    default: 'development',
  })
  const port = read.port('PORT', { default: 3000 })
// #if database
  const test = environment === 'test'
// #end
  return {
    environment,
    port,
    /** By default, a development server is reachable from this machine only, and production listens at every address. */
    host: read.string('HOST', { optional: true }),
// #if !basic
    /** The public address of the application. Production has no default. */
    appUrl: read.url('APP_URL', {
      protocols: ['http', 'https'],
      default: `http://localhost:${port}`,
      requiredInProduction: true,
    }),
// #end
// #if basic
    /** The public address of the application. Links in mails begin with it, so production has no default. */
    appUrl: read.url('APP_URL', {
      protocols: ['http', 'https'],
      default: `http://localhost:${port}`,
      requiredInProduction: true,
    }),
    /**
     * `mortar new` wrote a random value into `.env`; each test run has its own. `AUTH_SECRETS` is a list for a rotation: the
     * first secret signs, all verify.
     */
    authSecret: test
      ? randomBytes(32).toString('base64url')
      : (read.secrets('AUTH_SECRETS', { optional: true, strong: true }) ??
        read.secret('AUTH_SECRET', { strong: true })),
// #end
// #if sqlite
    /** Tests never use the development database. Production has no default: a new file would be an empty database. */
    databaseUrl: test
      ? 'sqlite::memory:'
      : read.string('DATABASE_URL', { default: 'sqlite:data/app.db', requiredInProduction: true }),
// #end
// #if server
    /** Tests never use the development database. */
    databaseUrl: test
      ? read.string('TEST_DATABASE_URL', { default: 'sqlite::memory:' })
      : read.string('DATABASE_URL'),
// #end
// #if basic
    /** A name (`terminal`, `memory`) or a URL such as `smtp://user:password@mail.example.com:587`. */
    mailTransport: read.string('MAIL_TRANSPORT', {
      optional: true,
      requiredInProduction: true,
      example: 'smtp://user:password@mail.example.com:587',
    }),
    mailFrom: read.string('MAIL_FROM', { default: '{{title}} <hello@example.com>' }),
// #end
    /** Addresses or ranges of the proxies in front of the application. */
    trustProxy: read.addresses('TRUST_PROXY', { default: [] }),
  }
})
