/** Entry `@mortar/auth-document`: the provider with e-mail and password on a document database. */
import { type Duration, StartupError, type BrickServices } from 'mortar'
import { checkOptions, optionalService, type OptionChecks } from 'mortar/kit'
import type { AuthProvider } from '@mortar/auth'
import {
  checkSignUpFields,
  createPasswordProvider,
  lifetime,
  PASSWORD_RULES,
  refuseSecretColumns,
  signUpFieldNames,
  type ConnectedPasswordProvider,
  type PasswordAuthOptions,
  type PublicFields,
} from '@mortar/auth/provider'
import type { DocumentDatabase } from './connection.ts'
import { RESERVED_FIELDS, type UserFields } from './documents.ts'
import { connected, documentFindings } from './doctor.ts'
import { checkAuthIndexes, ensureAuthIndexes } from './indexes.ts'
import { documentRecords } from './records.ts'
import { createDocumentStore } from './store.ts'

export type { AuthEvents } from '@mortar/auth'
export type { ConnectedPasswordProvider, PasswordAuthOptions } from '@mortar/auth/provider'
export type { CollectionLike, DbLike, DocumentDatabase, MongoDataSourceLike } from './connection.ts'
export type { UserFields } from './documents.ts'
export { ensureAuthIndexes } from './indexes.ts'

/** Options of `documentAuth`. */
export interface DocumentAuthOptions<Fields extends object = UserFields> extends PasswordAuthOptions {
  /**
   * The official driver's `Db`, or a TypeORM DataSource of the type `mongodb`, or a function that returns either from
   * the services; by default the service `db` of the database brick. It may connect after the provider is created.
   */
  readonly db?: DocumentDatabase | ((services: BrickServices) => DocumentDatabase)
  /**
   * Creates missing indexes at the start; by default true outside production. Otherwise a missing unique index stops
   * the start.
   */
  readonly createIndexes?: boolean
  /**
   * Your own fields of `auth_users`, each with the value for a new user: `{ role: 'user' }`. They become part of
   * `user.raw`; other stored fields stay in the database.
   */
  readonly userFields?: Readonly<Fields>
  /**
   * Time limit of one operation of the database; after it the response is 503. Seconds or a duration, 10 seconds by
   * default.
   */
  readonly operationTimeout?: Duration
}

const DOCUMENT_RULES: OptionChecks<DocumentAuthOptions>['keys'] = {
  ...PASSWORD_RULES,
  db: ['object', 'function'],
  createIndexes: 'boolean',
  userFields: 'object',
  operationTimeout: ['number', 'string'],
}

/**
 * The provider with e-mail and password on a document database: the flows of `basicAuth` over MongoDB. `userFields` types
 * `user.raw`; for fields that may be null write their type: `documentAuth<{ team: string | null }>({ … })`.
 * @throws StartupError `MORTAR_AUTH_SECRET` without a secret, `MORTAR_AUTH_OPTION` for a wrong lifetime or field.
 */
export function documentAuth<Fields extends object = {}>(
  options: DocumentAuthOptions<Fields>,
): AuthProvider<ConnectedPasswordProvider<PublicFields<Fields>>> {
  checkOptions(options, { of: 'documentAuth()', brick: 'auth', keys: DOCUMENT_RULES })
  const { db = ownDatabase, userFields = {}, operationTimeout = '10s' } = options ?? {}
  const timeout = lifetime('operationTimeout', operationTimeout, 1, 600) * 1000
  const source = (services: BrickServices) => (typeof db === 'function' ? db(services) : db)
  const fields = userFields as UserFields
  checkUserFields(fields)
  checkSignUpFields(signUpFieldNames(options?.signUpFields), Object.keys(fields), 'a field of userFields')
  refuseSecretColumns(Object.keys(fields), {
    listed: options?.publicColumns,
    hide: 'Leave it out of userFields, so that it stays in the database',
  })
  const provider = createPasswordProvider(
    {
      name: 'document',
      peers: { from: import.meta.url, packages: ['@mortar/auth'] },
      createStore: (services) =>
        createDocumentStore(() => source(services), {
          fields,
          timeout,
          logger: services.logger,
          now: () => services.clock.now(),
        }),
      createRecords: (services, shape) => documentRecords(() => source(services), shape, timeout),
      start: (services) => {
        const { createIndexes = services.environment !== 'production' } = options
        return createIndexes
          ? ensureAuthIndexes(source(services), options.features)
          : checkAuthIndexes(source(services))
      },
      connected: (services, work) => connected(source(services), work),
      doctor: (services) => documentFindings(source(services)),
    },
    options,
  )
  // The store makes `raw` from the framework's public fields and `userFields`.
  return provider as AuthProvider<ConnectedPasswordProvider<PublicFields<Fields>>>
}

/** Returns the service `db`, or undefined, so that this provider reports a missing one itself. */
function ownDatabase(services: BrickServices): DocumentDatabase {
  return optionalService(services, 'db') as DocumentDatabase
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
