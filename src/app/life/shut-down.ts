import type { Logger } from '../../contracts/logger.ts'
import type { ClosableOutages } from '../log/outages.ts'
import { checkOptions, wrongOption } from '../../support/check-options.ts'
import { isTimeout, TIME_LIMIT, timeLimit } from '../../support/duration.ts'
import { ignore } from '../../support/ignore.ts'
import { countdown, withDeadline } from '../../support/with-deadline.ts'
import type { Adapters } from '../serve/adapters.ts'
import type { CloseOptions } from '../app.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Maintenance } from './maintenance.ts'
import type { RunningServer } from '../serve/server.ts'

/** The parts of an application that stop with it. */
export interface Stoppable {
  readonly adapters: Adapters
  readonly lifecycle: Lifecycle
  readonly outages: ClosableOutages
  readonly maintenance: Maintenance
  readonly options: { readonly shutdownTimeout: number }
  readonly booting: Promise<void> | undefined
  /** Returns the server if `listen()` was called by then. */
  readonly starting: () => Promise<RunningServer> | undefined
}

/**
 * Lets requests in flight finish, stops the bricks in reverse order and disposes of the services: within `shutdownTimeout`
 * for the requests, and twice as long for everything.
 */
export async function shutDown(parts: Stoppable): Promise<void> {
  const { adapters, lifecycle, outages, maintenance, booting, starting } = parts
  const timeout = parts.options.shutdownTimeout
  const [left, leftForAll] = [countdown(timeout), countdown(2 * timeout)]
  const aborted = adapters.beginToClose()
  // A start that hangs must not delay the stop; the lifecycle stops the bricks that have started.
  await withDeadline(Promise.resolve(booting), timeout).catch(ignore)
  // Wait for a server that is about to listen; otherwise it would stay open.
  const server = await starting()?.catch(ignore)
  const [unfinished = []] = await Promise.all([server?.drain(left()), adapters.drain(left()), aborted])
  adapters.reportUnfinished(unfinished, timeout)
  await withDeadline(adapters.disposeRequests(left()), leftForAll()).catch(ignore)
  adapters.health.stop()
  maintenance.stop()
  await lifecycle.stop(leftForAll)
  outages.flush()
}

/** Returns the seconds to serve on before `close()` begins. @throws StartupError for a wrong option. */
export function delayOf(options: CloseOptions | undefined, reporter: Logger): number {
  checkOptions(options, { of: 'close()', keys: { drainDelay: ['number', 'string'] } })
  const { drainDelay = 0 } = options ?? {}
  if (isTimeout(drainDelay)) return timeLimit('drainDelay', drainDelay, reporter)
  throw wrongOption('drainDelay of close()', `is ${drainDelay}`, `Write ${TIME_LIMIT}.`)
}
