import { createLogger } from '../../app/log/logger.ts'
import { StartupError } from '../../errors/startup-error.ts'
import { takeActivationSocket } from '../../support/env/activation-socket.ts'
import { env } from '../../support/env/env.ts'
import { readEnvironment, type Variables } from '../../support/env/environment.ts'
import { machineClock } from './clock.ts'
import { openControl } from './control.ts'
import { handleSignals } from './primary-signals.ts'
import { Primary } from './primary.ts'
import type { PrimaryContext } from './primary-context.ts'
import { TICK, Watch, type WatchLimits } from './watch.ts'
import { forkWorker, setUpCluster } from './worker-process.ts'

/** Settings of `mortar start --workers`. */
export interface PrimaryOptions
  extends WatchLimits, Pick<PrimaryContext, 'count' | 'reloadTimeout' | 'manager'> {
  /** The variables of the application, with its `.env` files. */
  readonly variables: Variables
  /** Folder of the socket for `mortar reload`. */
  readonly state: string
}

/**
 * Runs workers until a signal stops them.
 * @returns the exit code.
 * @throws the error of a start that failed, with its message only.
 */
export async function runPrimary({
  count,
  reloadTimeout,
  variables,
  manager,
  state,
  ...limits
}: PrimaryOptions): Promise<number> {
  if (takeActivationSocket() !== undefined) throw passedSocket()
  const log = createLogger(readEnvironment(variables), env.from(variables))
  setUpCluster()
  const fork = (number: number) => forkWorker(number, count)
  const explain = (reason: string): void => void process.stderr.write(`mortar: ${reason}\n`)
  const primary = new Primary({ count, reloadTimeout, fork, log, explain, clock: machineClock, manager })
  const exitCode = handleSignals(primary)
  primary.start()
  const watch = new Watch(primary, { ...limits, log, clock: machineClock })
  setInterval(() => watch.tick(), TICK * 1000)
  const closeControl = await openControl(state, { reload: () => primary.reload(), log })
  const { code, reason } = await primary.ended
  closeControl()
  if (reason !== undefined) throw startFailure(reason)
  return exitCode() ?? code
}

/** Workers would ignore the socket, and listen at their own address. */
function passedSocket(): StartupError {
  return new StartupError('systemd has passed a socket, which several workers cannot use.', {
    code: 'MORTAR_LISTEN',
    remedy: 'Start without --workers and WORKERS, or without the socket unit.',
  })
}

/** Makes the error of a worker an error of this process, which the command line prints without a stack. */
function startFailure(message: string): Error {
  const error = new Error(message)
  error.name = 'StartupError'
  return error
}
