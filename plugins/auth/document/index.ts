/** The provider with e-mail and password on a document database, `mortar/auth/document`. */
import { StartupError, type Cradle } from '../../../src/index.ts'
import type { PasswordAuthOptions } from '../options.ts'
import { createPasswordProvider } from '../password-provider.ts'
import type { PasswordSession } from '../password-session.ts'
import type { AuthProvider } from '../provider.ts'
import type { DocumentDatabase } from './connection.ts'
import { PRIVATE_FIELDS } from './documents.ts'
import { checkAuthIndexes, ensureAuthIndexes } from './indexes.ts'
import { createDocumentStore } from './store.ts'

export type { AuthEvents } from '../events.ts'
export type { PasswordAuthOptions } from '../options.ts'
export type { PasswordSession } from '../password-session.ts'
export type { CollectionLike, DbLike, DocumentDatabase, MongoDataSourceLike } from './connection.ts'
export { ensureAuthIndexes } from './indexes.ts'

/** Options of `documentAuth`. */
export interface DocumentAuthOptions extends PasswordAuthOptions {
  /**
   * The official driver's `Db`, or a TypeORM DataSource of the type `mongodb`, or a function that finds either among the
   * services; by default the service `db` of the database brick. It may connect later than the provider is made.
   */
  readonly db?: DocumentDatabase | ((services: Cradle) => DocumentDatabase)
  /**
   * Whether the start creates indexes that are missing, by default outside production. Where it does not, a unique index
   * that is missing fails the start.
   */
  readonly createIndexes?: boolean
  /** Fields of your own in `auth_users` that become part of `user.raw`; all others stay in the database. */
  readonly publicFields?: readonly string[]
}

/**
 * The provider with e-mail and password on a document database: the flows of `basicAuth` over MongoDB.
 * @throws StartupError `MORTAR_AUTH_SECRET` when there is no secret, `MORTAR_AUTH_OPTION` for a wrong lifetime or field.
 */
export function documentAuth(options: DocumentAuthOptions): AuthProvider<PasswordSession> {
  const { db = (services: Cradle) => services['db'] as DocumentDatabase, publicFields = [] } = options ?? {}
  const source = (services: Cradle) => (typeof db === 'function' ? db(services) : db)
  checkPublicFields(publicFields)
  return createPasswordProvider(
    {
      name: 'document',
      createStore: (services) => createDocumentStore(() => source(services), { publicFields }),
      start: (services) => {
        const { createIndexes = services.environment !== 'production' } = options
        return createIndexes ? ensureAuthIndexes(source(services)) : checkAuthIndexes(source(services))
      },
    },
    options,
  )
}

function checkPublicFields(fields: readonly string[]): void {
  const hidden = fields.find((field) => PRIVATE_FIELDS.includes(field))
  if (hidden === undefined) return
  throw new StartupError(`The option publicFields of documentAuth() names '${hidden}'.`, {
    code: 'MORTAR_AUTH_OPTION',
    remedy: 'Name only fields that may leave the server inside an access token.',
    brick: 'auth',
  })
}
