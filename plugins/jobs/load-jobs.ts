import { readdir } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { StartupError, StartupErrors, type Schema } from 'mortar'
import { compileValidator } from 'mortar/kit'
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
 * Imports every job file below a folder, in code-unit order. Files and folders whose names begin with `_` or `.`, tests
 * and declarations are ignored.
 * @throws StartupErrors with every broken file, and StartupError `MORTAR_JOBS_DIRECTORY`.
 */
export async function loadJobs(directory: string | URL): Promise<readonly LoadedJob[]> {
  const folder = folderOf(directory)
  const problems: StartupError[] = []
  const loaded: LoadedJob[] = []
  for (const file of await listFiles(folder))
    try {
      loaded.push(refuseTwin(await loadFile(folder, file), file, loaded))
    } catch (error) {
      problems.push(error as StartupError)
    }
  if (problems.length > 0)
    throw new StartupErrors(`${problems.length} findings in the jobs of ${folder}:`, problems)
  return loaded
}

function folderOf(directory: string | URL): string {
  const folder = directory instanceof URL ? fileURLToPath(directory) : directory
  if (isAbsolute(folder)) return folder
  throw fault('MORTAR_JOBS_DIRECTORY', `The directory of jobs '${folder}' is a relative path.`)
}

const IS_JOB = /\.(?:m?[jt]s|[jt]sx)$/
const IS_OTHER = /\.(?:test|spec|d)\.m?[jt]sx?$/

async function listFiles(folder: string): Promise<readonly string[]> {
  try {
    const files = (await readdir(folder, { recursive: true })).map((file) => file.split(sep).join('/'))
    return files
      .filter((file) => IS_JOB.test(file) && !IS_OTHER.test(file) && !/(?:^|\/)[_.]/.test(file))
      .toSorted((one, other) => (one < other ? -1 : 1))
  } catch (cause) {
    throw fault('MORTAR_JOBS_DIRECTORY', `The directory of jobs ${folder} cannot be read.`, { cause })
  }
}

async function loadFile(folder: string, file: string): Promise<LoadedJob> {
  const path = join(folder, file)
  const { default: job } = await importFile(path)
  if (!isJob(job))
    throw fault('MORTAR_JOBS_FILE', `${path} has no default export that job() made.`, { files: [path] })
  const { data, every } = job.definition
  const name = file.slice(0, file.lastIndexOf('.'))
  if (name.length > 200)
    throw fault('MORTAR_JOBS_FILE', `${path} has a name of more than 200 characters.`, {
      files: [path],
      remedy: 'Shorten the names of its folders.',
    })
  return {
    ...readDefinition(job.definition, path),
    name,
    file: path,
    job,
    validate: data === undefined ? undefined : validatorOf(data, path),
    schedule: every === undefined ? undefined : readSchedule(name, every, path),
  }
}

async function importFile(path: string): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(pathToFileURL(path).href)) as { readonly default?: unknown }
  } catch (cause) {
    if (cause instanceof StartupError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw fault('MORTAR_JOBS_FILE', `${path} cannot be imported: ${reason}`, {
      files: [path],
      remedy: 'Correct the file.',
      cause,
    })
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
function refuseTwin(found: LoadedJob, file: string, others: readonly LoadedJob[]): LoadedJob {
  const twin = others.find(({ name, job }) => name === found.name || job === found.job)
  if (twin === undefined) return found
  throw fault('MORTAR_JOBS_FILE', `${file} is the same job as ${twin.name}.`, {
    files: [file],
    remedy: 'Remove one of the two files.',
  })
}
