import type { RequestContext } from '../../context/request-context.ts'
import { ServiceUnavailable } from '../../errors/http-error.ts'
import type { CompiledRoute } from '../../pipeline/compile.ts'
import { Refusal } from '../../pipeline/step.ts'
import { rangeMatcher } from '../../support/address-range.ts'
import { processVariables, STATE_VARIABLE } from '../../support/env/environment.ts'
import { processShare } from '../../support/env/process-share.ts'
import {
  maintenanceFile,
  type MaintenanceState,
  parseMaintenance,
  readMaintenanceFile,
} from '../../support/maintenance-file.ts'
import type { Logger } from '../../contracts/logger.ts'
import type { Dispatcher } from '../serve/dispatcher.ts'

/** Milliseconds between two reads of the file. */
const PERIOD = 1000

/** Follows the maintenance mode of this machine: the file that `mortar maintenance` writes. */
export type Maintenance = ReturnType<typeof createMaintenance>

/**
 * Creates the maintenance mode of an application. While it is on, the dispatcher finds a 503 for every request but those
 * of allowed clients. While it is off, requests do not notice it. A file that cannot be read changes nothing.
 */
export function createMaintenance(dispatcher: Pick<Dispatcher, 'divert'>, reporter: Logger) {
  let timer: NodeJS.Timeout | undefined
  let known: string | undefined
  let problem: string | undefined

  function read(file: string): void {
    try {
      const text = readMaintenanceFile(file)
      problem = undefined
      if (text !== known) apply(text)
      known = text
    } catch (error) {
      const { message } = error as Error
      if (message !== problem)
        reporter.warn({ reason: message }, 'The file of the maintenance mode cannot be read')
      problem = message
    }
  }

  function apply(text: string | undefined): void {
    const state = text === undefined ? undefined : parseMaintenance(text)
    dispatcher.divert(state && refuseOthers(state))
    // Every worker of this machine follows the same file.
    if (processShare().number > 1) return
    if (state === undefined) reporter.info({ event: 'maintenance.off' }, 'The maintenance mode is off.')
    else reporter.warn({ event: 'maintenance.on', ...state }, 'The maintenance mode is on.')
  }

  return {
    /** Reads the file now and then every second. Does nothing without a state folder. */
    follow() {
      const folder = processVariables()[STATE_VARIABLE]
      if (!folder || timer !== undefined) return
      const file = maintenanceFile(folder)
      read(file)
      timer = setInterval(() => read(file), PERIOD).unref()
    },
    stop: () => clearInterval(timer),
  }
}

/** Neither middleware nor the credential is evaluated, because they may need the database that is away. */
function refuseOthers({
  retryAfter,
  allow,
}: MaintenanceState): (ctx: RequestContext) => CompiledRoute | undefined {
  const isAllowed = allow.length === 0 ? () => false : rangeMatcher(allow)
  const refuse: CompiledRoute = () =>
    new Refusal(
      new ServiceUnavailable('The service is being maintained. Try again later.', {
        code: 'maintenance',
        retryAfter,
      }),
    )
  return ({ ip }) => (isAllowed(ip) ? undefined : refuse)
}
