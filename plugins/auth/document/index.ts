/** The provider with e-mail and password on a document database, `mortar/auth/document`. */
import { checkOptions, type OptionChecks, StartupError, type Cradle } from '../../../src/index.ts'
import { PASSWORD_RULES } from '../options/option-rules.ts'
import { checkRenamed } from '../options/options.ts'
import type { PasswordAuthOptions } from '../options/options.ts'
import { createPasswordProvider } from '../password-provider.ts'
import type { ConnectedPasswordProvider } from '../connected-password-provider.ts'
import type { AuthProvider } from '../provider.ts'
import { refuseSecretColumns } from '../accounts/secret-columns.ts'
import type { DocumentDatabase } from './connection.ts'
import { RESERVED_FIELDS, type UserFields } from './documents.ts'
import { checkAuthIndexes, ensureAuthIndexes } from './indexes.ts'
import { createDocumentStore } from './store.ts'

export type { AuthEvents } from '../events/events.ts'
export type { PasswordAuthOptions } from '../options/options.ts'
export type { ConnectedPasswordProvider } from '../connected-password-provider.ts'
export type { CollectionLike, DbLike, DocumentDatabase, MongoDataSourceLike } from './connection.ts'
export type { UserFields } from './documents.ts'
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
  /**
   * Fields of your own in `auth_users`, each with the value that a new user has: `{ role: 'user' }`. They become part of
   * `user.raw`; other fields that you store there stay in the database.
   */
  readonly userFields?: UserFields
}

const DOCUMENT_RULES: OptionChecks<DocumentAuthOptions>['keys'] = {
  ...PASSWORD_RULES,
  db: ['object', 'function'],
  createIndexes: 'boolean',
  userFields: 'object',
}

/**
 * The provider with e-mail and password on a document database: the flows of `basicAuth` over MongoDB.
 * @throws StartupError `MORTAR_AUTH_SECRET` when there is no secret, `MORTAR_AUTH_OPTION` for a wrong lifetime or field.
 */
export function documentAuth(options: DocumentAuthOptions): AuthProvider<ConnectedPasswordProvider> {
  checkRenamed(options)
  checkOptions(options, { of: 'documentAuth()', brick: 'auth', keys: DOCUMENT_RULES })
  const { db = ownDatabase, userFields = {} } = options ?? {}
  const source = (services: Cradle) => (typeof db === 'function' ? db(services) : db)
  checkUserFields(userFields)
  refuseSecretColumns(Object.keys(userFields), {
    listed: options?.publicColumns,
    hide: 'Leave it out of userFields, so that it stays in the database',
  })
  return createPasswordProvider(
    {
      name: 'document',
      createStore: (services) => createDocumentStore(() => source(services), userFields),
      start: (services) => {
        const { createIndexes = services.environment !== 'production' } = options
        return createIndexes ? ensureAuthIndexes(source(services)) : checkAuthIndexes(source(services))
      },
    },
    options,
  )
}

/** The service `db`, if there is one; that there is none is said in the words of this provider. */
function ownDatabase(services: Cradle): DocumentDatabase {
  return (Object.hasOwn(services, 'db') ? services['db'] : undefined) as DocumentDatabase
}

function checkUserFields(fields: UserFields): void {
  const taken = Object.keys(fields).find((field) => RESERVED_FIELDS.includes(field) || /^\$|\./.test(field))
  if (taken === undefined) return
  throw new StartupError(`The option userFields of documentAuth() cannot have '${taken}'.`, {
    code: 'MORTAR_AUTH_OPTION',
    remedy: "Choose a name that is not the framework's own, without a dot and not beginning with $.",
    brick: 'auth',
  })
}
