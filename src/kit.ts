/** Entry `mortar/kit`: what authors of bricks need beside `mortar`. */
export { createFolderPaths } from './files/folder-paths.ts'
export type { FolderPaths, GuardedFile } from './files/folder-paths.ts'
export { findingsOf, importFolder } from './files/import-folder.ts'
export type { FolderFile, FolderReader } from './files/import-folder.ts'
export { shareReport } from './app/life/process-report.ts'
export type { ProcessReport, ReportChannel, ReportMessage } from './app/life/process-report.ts'
export { requireInProduction } from './bricks/require-in-production.ts'
export { schemaFindings } from './bricks/schema-findings.ts'
export { optionalService } from './container/optional-service.ts'
export { systemClock } from './contracts/clock.ts'
export { JOB_ADDED_CHANNEL, JOB_CHANNEL } from './contracts/job-queue.ts'
export type {
  JobQueue,
  ObservedJob,
  QueuedAttempt,
  QueuedWork,
  QueuedWorkOptions,
} from './contracts/job-queue.ts'
export { MAIL_PAGE } from './contracts/mailer.ts'
export { KNOWN_METHODS } from './contracts/observed-request.ts'
export type { SideConnection, SideConnectionOptions, SideConnections } from './contracts/side-connections.ts'
export type { ConnectionLife, TakenConnection, Takeover } from './context/takeover.ts'
export { describeError } from './errors/describe-error.ts'
export { problemErrors, startupErrors } from './errors/brick-errors.ts'
export type {
  BrickStartupErrorOptions,
  ProblemErrorOptions,
  StartupCode,
  StartupCodes,
  StartupErrorSource,
} from './errors/brick-errors.ts'
export type { ProblemDefinition, Problems } from './errors/codes.ts'
export { isHttpError } from './errors/http-error.ts'
export { problemText } from './errors/problem.ts'
export type { ProblemSettings } from './errors/problem.ts'
export { clientNetwork, clientSite } from './limits/client-network.ts'
export { memoryLimitFindings, warnOfMemoryLimits } from './limits/count-alone.ts'
export { limitHeaders } from './limits/limit-headers.ts'
export type { LimitState } from './limits/limit-headers.ts'
export { flexibleStore, UNLIMITED_POINTS } from './limits/limit-store.ts'
export type { Counted, FlexibleLimiter, KeyCount, LimitStore } from './limits/limit-store.ts'
export { createMemoryLimiter } from './limits/memory-limiter.ts'
export type { MemoryLimiter, MemoryLimiterSettings } from './limits/memory-limiter.ts'
export { parseLimit } from './limits/parse-limit.ts'
export type { ParsedLimit } from './limits/parse-limit.ts'
export { createSharedLimiter, storedKey } from './limits/shared-limiter.ts'
export type { SharedLimiter, SharedLimiterSettings } from './limits/shared-limiter.ts'
export { installed } from './peers/find-problems.ts'
export { hasPeer, loadPeer } from './peers/load-peer.ts'
export { BINARY, LONG, makeEntity } from './peers/make-entity.ts'
export { buildRemedy, installCommand } from './peers/package-manager.ts'
export { nativeError, peerError } from './peers/peer-errors.ts'
export type { PeerNeed, Peers } from './peers/peers.ts'
export { compileGuard } from './pipeline/guard.ts'
export type { Guard, Guarded } from './pipeline/guard.ts'
export { identifyAgain } from './pipeline/identify.ts'
export { compileJsonReader } from './pipeline/json-reader.ts'
export type { ReadJson } from './pipeline/json-reader.ts'
export { takeOver } from './pipeline/take-over.ts'
export { compileValidator } from './schema/compile-validator.ts'
export { brokenRules, Invalid } from './schema/invalid.ts'
export { compileSerializer } from './schema/serializer.ts'
export type { Serializer } from './schema/serializer.ts'
export { bytes } from './support/bytes.ts'
export { checkOptions } from './support/check-options.ts'
export type { OptionChecks, OptionKind, OptionRule, OptionRules } from './support/check-options.ts'
export { inColumns, printable } from './support/columns.ts'
export { databaseFaultOf, errorCode, isOutage, retryRolledBack } from './support/database-fault.ts'
export type { DatabaseFault } from './support/database-fault.ts'
export { isObject } from './support/describe-value.ts'
export { milliseconds, seconds, warnOfLongNumber } from './support/duration.ts'
export { isCommand, isDevServer, threadPoolSize } from './support/env/environment.ts'
export { createHedge } from './support/hedge.ts'
export { ignore } from './support/ignore.ts'
export { inCauses } from './support/in-causes.ts'
export { inTime, lateDatabase } from './support/in-time.ts'
export { isForwarded, isLocalHost, isLoopback } from './support/local-request.ts'
export { missingColumn, missingTable } from './support/missing-table.ts'
export { followTransactions, openTransaction, runnerOf, whenCommitted } from './support/open-transactions.ts'
export type { Runner, Transaction } from './support/open-transactions.ts'
export { readCookie } from './support/read-cookie.ts'
export { isPausing } from './support/pause.ts'
export { createRepeats } from './support/repeats.ts'
export type { Repeats } from './support/repeats.ts'
export { isSameOrigin } from './support/same-origin.ts'
export type { StatementResult } from './support/statement-result.ts'
export {
  briefTransaction,
  kindOf,
  nameOfTable,
  runInPool,
  tableStatements,
} from './support/table-statements.ts'
export type {
  BuildStatement,
  DatabaseKind,
  DataSourceLike,
  DeleteRows,
  RowsById,
  RunStatement,
  TableStatementOptions,
  TableStatements,
} from './support/table-statements.ts'
export { weaknessOfSecret } from './support/weak-secret.ts'
export { withDeadline } from './support/with-deadline.ts'
