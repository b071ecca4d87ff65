/** The default provider: e-mail and password on the application's relational database, `@mortar/auth/basic`. */
import type { StartupError, BrickServices, Cradle } from 'mortar'
import { checkOptions, requireInProduction, type OptionChecks } from 'mortar/kit'
import { PASSWORD_RULES } from '../options/option-rules.ts'
import type { PasswordAuthOptions } from '../options/options.ts'
import { checkColumns } from './check-columns.ts'
import { checkEntities, TABLES } from './check-entities.ts'
import { createPasswordProvider } from '../password-provider.ts'
import type { ConnectedPasswordProvider } from '../connected-password-provider.ts'
import type { AuthProvider } from '../provider.ts'
import { checkSignUpFields, signUpFieldNames } from '../accounts/sign-up-fields.ts'
import { refuseSecretColumns } from '../accounts/secret-columns.ts'
import { type DataSourceLike, explainUnavailable } from './sql.ts'
import { ownPublicColumns } from './rows.ts'
import type { PublicColumns } from './public-columns.ts'
import { tablesOf } from '../features/check-features.ts'
import { relationalRecords } from './records.ts'
import { createRelationalStore } from './store.ts'
import { fault } from '../startup-codes.ts'

export type { AuthEvents } from '../events/events.ts'
export type { Secret } from '../tokens/keys.ts'
export type { Limit, LimitOptions } from '../limits/limit-rules.ts'
export type { PasswordAuthOptions } from '../options/options.ts'
export type { ConnectedPasswordProvider } from '../connected-password-provider.ts'
export type { HashCost } from '../passwords/passwords.ts'
export type { DataSourceLike } from './sql.ts'

/** Options of `basicAuth`. */
export interface BasicAuthOptions extends PasswordAuthOptions {
  /**
   * The TypeORM DataSource of the application (SQLite, PostgreSQL, MariaDB or MySQL), or a function that selects it
   * from the services; by default the service `db` of the database brick. It is connected when the application starts.
   */
  readonly db?: DataSourceLike | ((services: BrickServices) => DataSourceLike)
}

const BASIC_RULES: OptionChecks<BasicAuthOptions>['keys'] = { ...PASSWORD_RULES, db: ['object', 'function'] }

/**
 * The provider with e-mail and password on a relational database. Its tables are the entities of
 * `@mortar/auth/basic/schema`. `basicAuth<typeof AuthUsers>({ … })` types `user.raw` with the columns of that entity.
 * @throws StartupError `MORTAR_AUTH_SECRET` when there is no secret, `MORTAR_AUTH_OPTION` for a wrong option; at the start of the
 * application `MORTAR_AUTH_DATABASE` when there is no database or it is not connected, `MORTAR_AUTH_SCHEMA` for tables of an
 * earlier version, in production `MORTAR_AUTH_ENTITIES` for a table without an entity, and `MORTAR_AUTH_SECRET_COLUMN` for a
 * public column that is named like a secret.
 */
export function basicAuth<Users = unknown>(
  options: BasicAuthOptions,
): AuthProvider<ConnectedPasswordProvider<PublicColumns<Users>>> {
  checkOptions(options, { of: 'basicAuth()', brick: 'auth', keys: BASIC_RULES })
  const { db = databaseService } = options ?? {}
  const sourceOf = (services: BrickServices) => (typeof db === 'function' ? db(services) : db)
  const provider = createPasswordProvider(
    {
      name: 'basic',
      peers: { from: import.meta.url, packages: ['typeorm'] },
      createStore(services) {
        if (db === databaseService && !Object.hasOwn(services, 'db')) throw noDatabase()
        const beside = Object.hasOwn(services, 'sideConnections') ? services['sideConnections'] : undefined
        return createRelationalStore(() => sourceOf(services), beside)
      },
      connected(services, work) {
        const migrations = Object.hasOwn(services, 'migrations') ? services['migrations'] : undefined
        if (db !== databaseService || migrations === undefined)
          return sourceOf(services)?.isInitialized ? work() : undefined
        return migrations.missingFile() === undefined ? migrations.connected(work) : undefined
      },
      createRecords: (services, shape) => relationalRecords(() => sourceOf(services), shape),
      async start(services) {
        const source = sourceOf(services)
        if (source?.isInitialized !== true) throw notConnected()
        refuseSecretColumns(
          ownPublicColumns(source).map(({ databaseName }) => databaseName),
          { listed: options.publicColumns, hide: 'Give the column select: false' },
        )
        await requireInProduction(services, 'auth', () => checkEntities(source, tables))
        checkSignUpFields(
          signUpFieldNames(options.signUpFields),
          ownPublicColumns(source).map(({ propertyName }) => propertyName),
          'a column of authUsers({ … }) without select: false',
        )
        await checkColumns(source, services)
      },
    },
    options,
  )
  const tables = [...TABLES, ...tablesOf(options.features).map(({ name }) => name)]
  // The store makes `raw` from the columns of the entity.
  return { ...provider, tables, explainError: explainUnavailable } as AuthProvider<
    ConnectedPasswordProvider<PublicColumns<Users>>
  >
}

function databaseService(services: Cradle): DataSourceLike {
  return services['db'] as DataSourceLike
}

function notConnected(): StartupError {
  return fault(
    'MORTAR_AUTH_DATABASE',
    'The DataSource of basicAuth() is not connected, and no brick connects it.',
    {
      remedy:
        'Register database(dataSource), which connects it at the start, or await dataSource.initialize() before.',
    },
  )
}

function noDatabase(): StartupError {
  return fault(
    'MORTAR_AUTH_DATABASE',
    "basicAuth() has no database: there is no service 'db', and no option db.",
    { remedy: 'Register database(…) from @mortar/database, or give basicAuth({ db }) a TypeORM DataSource.' },
  )
}
