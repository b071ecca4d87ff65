import { StartupErrors, type Schema } from 'mortar'
import { compileValidator, importFolder, type FolderFile } from 'mortar/kit'
import type { PlannedSchedule } from './engine.ts'
import { isJob, type Job } from './job.ts'
import { readDefinition, type JobSettings } from './options.ts'
import { readSchedule } from './schedule.ts'
import { fault } from './startup-codes.ts'

/** Returns the validated value, or an object with `issues`; a promise of either if the schema is asynchronous. */
type Validate = (value: unknown) => unknown

/** A job with its name and checked options. */
export interface LoadedJob extends JobSettings {
  readonly name: string
  /** Absolute path. */
  readonly file: string
  readonly job: Job
  /** Undefined for a job without data. */
  readonly validate: Validate | undefined
  readonly schedule: PlannedSchedule | undefined
}

/**
 * Imports every job file below a folder, in code-unit order. Files and folders whose names begin with `_` or `.`,
 * `node_modules`, tests and declarations are ignored.
 * @throws StartupErrors with every broken file, and StartupError `MORTAR_JOBS_DIRECTORY`.
 */
export async function loadJobs(directory: string | URL): Promise<readonly LoadedJob[]> {
  const { folder, found, problems } = await importFolder<LoadedJob>(directory, {
    of: 'directory of jobs',
    fault: (kind, text, options) =>
      fault(kind === 'file' ? 'MORTAR_JOBS_FILE' : 'MORTAR_JOBS_DIRECTORY', text, options),
    read: (value, file, others) => refuseTwin(readFile(value, file), file, others),
  })
  if (problems.length > 0)
    throw new StartupErrors(`${problems.length} findings in the jobs of ${folder}:`, problems)
  return found
}

function readFile(job: unknown, { path, name }: FolderFile): LoadedJob {
  const refuse = (found: string, remedy?: string) =>
    fault('MORTAR_JOBS_FILE', `${path} ${found}.`, { files: [path], ...(remedy && { remedy }) })
  if (!isJob(job)) throw refuse('has no default export that job() made')
  if (typeof job.run !== 'function') throw refuse('has no handler')
  const { on, data = on?.data, every } = job.definition
  if (name.length > 200)
    throw refuse('has a name of more than 200 characters', 'Shorten the names of its folders.')
  return {
    ...readDefinition(job.definition, path),
    name,
    file: path,
    job,
    validate: data === undefined ? undefined : validatorOf(data, path),
    schedule: every === undefined ? undefined : readSchedule(name, every, path),
  }
}

function validatorOf(schema: Schema, path: string): Validate {
  try {
    return compileValidator(schema, 'body').validate
  } catch (cause) {
    throw fault('MORTAR_JOBS_FILE', `${path} has \`data\` that is not a schema.`, {
      files: [path],
      remedy: 'Give a yup schema or another Standard Schema validator.',
      cause,
    })
  }
}

/** The name and the object of a job identify it. */
function refuseTwin(found: LoadedJob, { path }: FolderFile, others: readonly LoadedJob[]): LoadedJob {
  const twin = others.find(({ name, job }) => name === found.name || job === found.job)
  if (twin === undefined) return found
  throw fault('MORTAR_JOBS_FILE', `${path} is the same job as ${twin.name}.`, {
    files: [path],
    remedy: 'Remove one of the two files.',
  })
}
