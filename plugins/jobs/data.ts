import { brokenRules, Invalid } from 'mortar/kit'
import type { LoadedJob } from './load-jobs.ts'

/** Bytes of JSON that a job may have: larger data belongs in a table or a file, with its id in the job. */
const MOST = 1_048_576

/** Data that a job does not accept. Its message has no value. */
export class InvalidJobData extends TypeError {
  override readonly name = 'InvalidJobData'
  /** False for data of a row: another version of the application may accept it. */
  readonly permanent: boolean

  constructor(message: string, permanent = true) {
    super(message)
    this.permanent = permanent
  }
}

/** Validates data and returns its JSON. @throws InvalidJobData */
export async function writeData(job: Pick<LoadedJob, 'name' | 'validate'>, data: unknown): Promise<string> {
  const text = JSON.stringify(await validated(job, data)) ?? 'null'
  if (Buffer.byteLength(text) <= MOST) return text
  throw new InvalidJobData(
    `The data of the job ${job.name} is larger than 1 MiB. Store it elsewhere, and give the job its id.`,
  )
}

/** Reads the JSON of a row and validates it, because the schema may have changed since. @throws InvalidJobData */
export function readData(job: Pick<LoadedJob, 'name' | 'validate'>, text: string): Promise<unknown> {
  return validated(job, JSON.parse(text), false)
}

async function validated(
  { name, validate }: Pick<LoadedJob, 'name' | 'validate'>,
  data: unknown,
  isPermanent = true,
): Promise<unknown> {
  if (validate === undefined) {
    if (data === undefined || data === null) return undefined
    throw new InvalidJobData(
      `The job ${name} has no data. Give its definition a schema: job({ data: object({ … }) }, …).`,
      isPermanent,
    )
  }
  const result = await validate(data)
  if (!(result instanceof Invalid)) return result
  throw new InvalidJobData(`The data of the job ${name} is invalid: ${brokenRules(result)}.`, isPermanent)
}
