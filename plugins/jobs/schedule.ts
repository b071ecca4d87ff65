import { Cron } from 'croner'
import type { PlannedSchedule } from './engine.ts'
import type { Schedule } from './job.ts'
import { fault } from './startup-codes.ts'

/**
 * Reads the moments of a job. A moment that the change to summer time skips comes at its end; one that occurs twice in
 * autumn comes once.
 * @throws StartupError `MORTAR_JOBS_OPTION` for a wrong pattern or time zone, and a pattern that never occurs.
 */
export function readSchedule(name: string, every: string | Schedule, file: string): PlannedSchedule {
  const { cron, timeZone = 'UTC', missed = 'once' } = typeof every === 'string' ? { cron: every } : every
  const refuse = (found: string): never => {
    throw fault('MORTAR_JOBS_OPTION', `The job ${file} has ${found}.`, { files: [file] })
  }
  if (missed !== 'once' && missed !== 'skip') refuse("a schedule whose `missed` is neither 'once' nor 'skip'")
  const moments =
    cronOf(cron, timeZone) ?? refuse(`a schedule that cannot be read: '${cron}' in '${timeZone}'`)
  const next = (after: number): number | undefined => moments.nextRun(new Date(after))?.getTime()
  if (next(Date.now()) === undefined) refuse(`a schedule that never occurs: '${cron}'`)
  return { name, pattern: `${cron}|${timeZone}`, next, runsMissed: missed === 'once' }
}

function cronOf(pattern: string, timezone: string): Cron | undefined {
  try {
    const cron = new Cron(pattern, { timezone, paused: true })
    cron.nextRun()
    return cron
  } catch {
    return undefined
  }
}
