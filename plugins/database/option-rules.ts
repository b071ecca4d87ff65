import { checkOptions, type OptionChecks } from 'mortar/kit'
import type { ConnectionOptions, DatabaseSettings } from './options.ts'
import { fault } from './startup-codes.ts'

/** Every option of every driver of TypeORM; TypeORM itself checks the values. */
const OPTIONS = [
  'acquireTimeout androidFlags appName applicationName authMechanism authSource authentication',
  'autoEncryption autoSave autoSaveCallback bigNumberStrings ca cache cert charset checkServerIdentity',
  'compressors connectString connectTimeout connectTimeoutMS connectionTimeout credentials database',
  'databaseId dateStrings debug directConnection driver dropSchema enableQueryTimeout enableWAL encrypt',
  'encryptionKey entities entityPrefix entitySkipConstructor extensions extra family fileMustExist',
  'flags forceServerObjectId formatOptions host hostReplicaSet ignoreUndefined insecureAuth',
  'installExtensions instanceId invalidWhereValuesBehavior iosFlags isolateWhereStatements',
  'isolationLevel journalMode key legacySpatialSupport localThresholdMS location logNotifications',
  'logger logging maxQueryExecutionTime maxStalenessSeconds maxTransactionRetries metadataTableName',
  'migrate migrationsTableName migrationsTransactionMode minPoolSize mode monitorCommands',
  'multipleStatements multithreading namingStrategy nativeBinding nativeDriver noDelay options',
  'parseInt8 password pkFactory pool poolErrorHandler poolSize port prepareDatabase projectId',
  'promoteBuffers promoteLongs promoteValues proxyHost proxyPassword proxyPort proxyUsername raw',
  'readConcern readOnly readPreference readPreferenceTags readonly region relationLoadStrategy',
  'replicaSet replication requestTimeout resourceArn retryWrites schema secretArn serializeFunctions',
  'serviceConfigOptions serviceName sid socketPath socketTimeoutMS sqlJsConfig ssl',
  'sslValidateCertificate statementCacheSize stream subscribers supportBigNumbers synchronize thickMode',
  'timeTravelQueries timeout timezone tls tlsAllowInvalidCertificates tlsCAFile tlsCertificateKeyFile',
  'tlsCertificateKeyFilePassword trace transformParameters type typename url useLocalForage useUTC',
  'username uuidExtension verbose version writeConcern',
] as const

type KeyOfAny<Union> = Union extends unknown ? keyof Union : never
type Known = KeyOfAny<ConnectionOptions>
type Words<Line extends string> = Line extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : Line
type Listed = Words<(typeof OPTIONS)[number]>

/** The type names an option that the list lacks, and one that TypeORM does not have. */
const CONNECTION: Readonly<Record<Known, 'anything'> & Record<Exclude<Listed, Known>, never>> =
  Object.fromEntries(OPTIONS.flatMap((line) => line.split(' ')).map((name) => [name, 'anything'])) as Record<
    Listed,
    'anything'
  >

/** The brick's own options; all others belong to the connection. */
export const SETTINGS: OptionChecks<DatabaseSettings>['keys'] = {
  migrations: 'anything',
  migrate: 'boolean',
  pendingMigrations: 'string',
  lockTimeout: 'delay',
  transactionWarning: 'delay',
  busyTimeout: 'delay',
  readOnly: 'boolean',
  poolTimeout: 'timeout',
  silence: 'timeout',
  statementTimeout: 'delay',
}

/** @throws StartupError for an option that neither TypeORM nor the brick has, or a setting of another type. */
export function checkDatabaseOptions(options: ConnectionOptions & DatabaseSettings): void {
  // With a pool of less than 1, which the drivers accept, each caller waits in vain.
  const keys = { ...CONNECTION, poolSize: 'count', ...SETTINGS } as const
  checkOptions(options, { of: 'database()', brick: 'database', keys })
}

/** Checks the second argument of `database()` in the same way. */
export function checkDatabaseSettings(settings: DatabaseSettings): void {
  checkOptions(settings, { of: 'database()', brick: 'database', keys: SETTINGS })
}

/** @throws StartupError for a source that is not options, a DataSource or a function, such as a URL. */
export function checkDatabaseSource(source: unknown): void {
  if (typeof source === 'function' || (typeof source === 'object' && source !== null)) return
  const kind = typeof source === 'string' ? 'a string' : String(source)
  throw fault('MORTAR_DATABASE_URL', `The options of database() are ${kind}, not an object.`, {
    remedy: 'Write database(fromUrl(url)), or pass an object of options.',
  })
}
