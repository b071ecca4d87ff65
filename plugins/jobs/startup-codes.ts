import { startupErrors, type StartupCodes } from 'mortar/kit'

/** Codes of the start-up errors of the jobs brick; `docs/startup-errors.md` has the same table. */
export const STARTUP_CODES = {
  MORTAR_JOBS_DIRECTORY: {
    cause: 'The directory of jobs is a relative path, or cannot be read',
    remedy: "Write directory: new URL('../jobs', import.meta.url), and create that folder.",
  },
  MORTAR_JOBS_ENGINE: {
    cause: 'The engine of the jobs cannot use its server',
    remedy: 'Check that the server runs and is reachable, and check its address and password.',
  },
  MORTAR_JOBS_FILE: {
    cause: 'A file in the directory of jobs is not a job, or cannot be imported',
    remedy:
      'Write `export default job({ … }, async ({ data }) => { … })`, or begin the name of the file with _.',
  },
  MORTAR_JOBS_ID: {
    cause: 'A command names a job that does not exist, or is in another state',
    remedy: 'List the jobs: npx mortar jobs list.',
  },
  MORTAR_JOBS_OPTION: {
    cause: 'An option of the jobs brick or of a job is invalid',
    remedy: 'Fix the option that the message names.',
  },
  MORTAR_JOBS_TABLE: {
    cause: 'The database has no table for the jobs',
    remedy:
      "Write `export * from '@mortar/jobs/schema'` in the schema module, then run `npx mortar migrate generate jobs` and `npx mortar migrate run`.",
  },
} as const satisfies StartupCodes

/** Makes a `StartupError` with one of these codes and its remedy. */
export const fault = startupErrors({ brick: 'jobs', codes: STARTUP_CODES })
