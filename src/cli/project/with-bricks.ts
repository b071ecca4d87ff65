import type { Inspection } from '../../app/app.ts'
import type { AnyBrick } from '../../bricks/brick.ts'
import type { MigrationService } from '../../contracts/migrations.ts'
import type { Cradle } from '../../contracts/services.ts'
import { isHttpError } from '../../errors/http-error.ts'
import { StartupError } from '../../errors/startup-error.ts'
import { readableError } from '../../support/readable-error.ts'
import { withDeadline } from '../../support/with-deadline.ts'

/** Seconds for the stop of each brick. */
const STOP_LIMIT = 5

/** Bricks of a command. */
export interface WantedBricks {
  /** Their names; all of them without it. */
  readonly names?: readonly string[]
  /** True asks each of them to refuse writes. */
  readonly refuseWrites?: boolean
}

/**
 * Starts bricks of an assembled application in their order, runs work, and stops them in reverse order.
 * @throws StartupError `MORTAR_CLI_DATABASE` for a database that is not there, the error of a start, and that of the work.
 */
export async function withBricks<T>(
  { bricks, services, serviceNames }: Inspection,
  { names, refuseWrites = false }: WantedBricks,
  work: (services: Cradle) => Promise<T>,
): Promise<T> {
  // The inspection of an application has the services of the core.
  const cradle = services as Cradle
  if (serviceNames.includes('migrations')) refuseMissingFile(services['migrations'] as MigrationService)
  const started: AnyBrick[] = []
  try {
    for (const brick of bricks.filter(({ name }) => names?.includes(name) ?? true)) {
      if (refuseWrites) await brick.refuseWrites?.(cradle)
      await brick.start?.(cradle)
      started.push(brick)
    }
    return await work(cradle)
  } catch (error) {
    throw isHttpError(error) && error.status >= 500 ? unavailable(error) : error
  } finally {
    for (const brick of started.toReversed())
      await withDeadline(Promise.resolve(brick.stop?.(cradle)), STOP_LIMIT).catch(() => undefined)
  }
}

/** A connection would create the file, and a wrong folder would look like an empty database. */
function refuseMissingFile(migrations: Partial<MigrationService>): void {
  const file = migrations.missingFile?.()
  if (file === undefined) return
  throw new StartupError(`There is no database ${file}.`, {
    code: 'MORTAR_CLI_DATABASE',
    remedy:
      'Run the command in the folder and with the variables of the application. A new one makes its database with: npx mortar migrate run.',
  })
}

function unavailable(error: Error): StartupError {
  const { cause } = error
  const reason = cause === undefined ? '' : ` Reason: ${readableError(cause)}`
  return new StartupError(`${error.message}${reason}`, {
    code: 'MORTAR_CLI_DATABASE',
    remedy: 'Check that the database and the other services of the application respond: npx mortar doctor.',
    cause: error,
  })
}
