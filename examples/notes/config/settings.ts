import { randomBytes } from 'node:crypto'
import { env } from 'mortar'

/** Everything that the application reads from its environment; its start reports all problems together. */
export const settings = env.all((read) => {
  const environment = read.oneOf('NODE_ENV', ['development', 'test', 'production'], {
    default: 'development',
  })
  const port = read.port('PORT', { default: 3000 })
  const test = environment === 'test'
  const authProvider = read.oneOf('AUTH_PROVIDER', ['basic', 'document', 'hosted', 'library'], {
    default: 'basic',
  })
  const hosted = authProvider === 'hosted'
  return {
    environment,
    port,
    /** By default, only this machine reaches a development server, and production listens at every address. */
    host: read.string('HOST', { optional: true }),
    /** Links in mails begin with it, so production has no default. */
    appUrl: read.url('APP_URL', {
      protocols: ['http', 'https'],
      default: `http://localhost:${port}`,
      requiredInProduction: true,
    }),
    /** The provider of users: e-mail and password on either kind of database, a sign-in provider elsewhere, or better-auth. */
    authProvider,
    /**
     * `npm start` makes one in `.env`; each test run has its own, and a provider elsewhere needs none. `AUTH_SECRETS` is a
     * list for a rotation: the first secret signs, all verify.
     */
    authSecret:
      test || hosted
        ? randomBytes(32).toString('base64url')
        : (read.secrets('AUTH_SECRETS', { optional: true, strong: true }) ??
          read.secret('AUTH_SECRET', { strong: true })),
    /** Users prove and change their address, see and end their sessions, and may add a second factor. */
    authFeatures: read.boolean('AUTH_FEATURES', { default: false }),
    /** The sign-in provider: `iss` of its tokens, and their `aud` for this application. */
    authIssuer: hosted ? read.url('AUTH_ISSUER', { protocols: ['http', 'https'] }) : '',
    authAudience: hosted ? read.string('AUTH_AUDIENCE') : '',
    mongoUrl:
      authProvider === 'document' ? read.url('MONGODB_URL', { protocols: ['mongodb', 'mongodb+srv'] }) : '',
    /** Production has no default, because nobody would find a file in the working directory. */
    databaseUrl: read.string('DATABASE_URL', {
      default: test ? 'sqlite::memory:' : 'sqlite:data/notes.db',
      requiredInProduction: true,
    }),
    /** A name (`terminal`, `memory`) or a URL such as `smtp://user:password@mail.example.com:587`. */
    mailTransport: read.string('MAIL_TRANSPORT', {
      optional: true,
      requiredInProduction: true,
      example: 'smtp://user:password@mail.example.com:587',
    }),
    mailFrom: read.string('MAIL_FROM', { default: 'Notes <notes@example.com>' }),
    /** Addresses or ranges of the proxies in front of the application. */
    trustProxy: read.addresses('TRUST_PROXY', { default: [] }),
  }
})
