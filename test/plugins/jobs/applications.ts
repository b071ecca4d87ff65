import { createApp, type AppOptions, type Logger } from 'mortar'
import { createClock, type FakeClock } from 'mortar/testing'
import { database, type ConnectionOptions } from '@mortar/database'
import { jobs, type JobsOptions } from '@mortar/jobs'

export const DIRECTORY = new URL('./jobs', import.meta.url)

/** An application with the jobs of the tests. */
export function jobsApp(
  connection: ConnectionOptions,
  options: Partial<JobsOptions> = {},
  settings: AppOptions = {},
) {
  return createApp({ environment: 'test', logger: false, signals: false, ...settings })
    .use(database(connection))
    .use(jobs({ directory: DIRECTORY, ...options }))
}

export type JobsApp = ReturnType<typeof jobsApp>

/** A clock at a fixed moment of winter time. */
export const winterClock = (): FakeClock => createClock(Date.UTC(2026, 0, 15, 12))

/** A logger that keeps its lines. */
export function keptLog(): {
  readonly logger: Logger
  readonly lines: {
    readonly level: string
    readonly fields: Readonly<Record<string, unknown>>
    readonly text: string
  }[]
} {
  const lines: { level: string; fields: Record<string, unknown>; text: string }[] = []
  const at =
    (level: string, bound: object) =>
    (...given: unknown[]): void => {
      const [fields, text] = typeof given[0] === 'string' ? [{}, given[0]] : given
      lines.push({ level, fields: { ...bound, ...(fields as object) }, text: String(text) })
    }
  const make = (bound: Record<string, unknown>): Logger => ({
    debug: at('debug', bound),
    info: at('info', bound),
    warn: at('warn', bound),
    error: at('error', bound),
    child: (more) => make({ ...bound, ...more }),
  })
  return { logger: make({}), lines }
}
