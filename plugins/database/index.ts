export { database } from './brick.ts'
export type { DatabaseMembers, DatabaseServices } from './brick.ts'
export { createDataSource, openDataSource } from './drivers/data-source.ts'
export type { Entities, Entity, SchemaModule } from './entities.ts'
export { fromUrl } from './drivers/from-url.ts'
export type { UrlOptions } from './drivers/from-url.ts'
export { gateTransactions } from './gate/gate-transactions.ts'
export type { GateSettings } from './gate/gate-transactions.ts'
export { inBatches } from './in-batches.ts'
export type { BatchOptions, BatchWork } from './in-batches.ts'
export type { LoadedMigration, MigrationClass, MigrationSource } from './migrations/load-migrations.ts'
export { createMigrations } from './migrations/migrations.ts'
export type {
  GeneratedMigration,
  MigrationOptions,
  Migrations,
  MigrationStatus,
} from './migrations/migrations.ts'
export { missingColumn, missingTable } from 'mortar/kit'
export { MISSING_COLUMN_REMEDY, MISSING_TABLE_REMEDY } from './migrations/explain-statements.ts'
export type { ConnectionOptions, DatabaseOptions, DatabaseSettings, DatabaseSource } from './options.ts'
export { param } from './query/find-options.ts'
export type { Direction, Order, Param, Select, Where } from './query/find-options.ts'
export { query } from './query/query.ts'
export type { Query, QueryOptions } from './query/query.ts'
export type { QuerySource } from './query/query-source.ts'
export { typeorm } from './drivers/typeorm.ts'
export { duplicateKey, violation } from './failures/violation.ts'
export type { Violation, ViolationKind } from './failures/violation.ts'
