export { jobs } from './brick.ts'
export type { JobsServices } from './brick.ts'
export { InvalidJobData } from './data.ts'
export type { DataSourceLike } from './database/statements.ts'
export { durableEvent } from './durable-event.ts'
export type { DataOf, DurableEvent, Published, PublishOptions } from './durable-event.ts'
export type {
  ClaimedJob,
  EngineMaker,
  EngineParts,
  JobCounts,
  JobEngine,
  JobFilter,
  JobState,
  ListedJob,
  NewJob,
  Outcome,
  PlannedSchedule,
} from './engine.ts'
export { job, jobFor } from './job.ts'
export type { Job, JobDefinition, JobInput, JobMaker, JobOptions, Schedule } from './job.ts'
export type { JobsOptions } from './options.ts'
export type { AddOptions, EventPublisher, JobAdder, Jobs } from './runtime.ts'
export type { Runner, StatementResult, Transaction } from 'mortar/kit'
