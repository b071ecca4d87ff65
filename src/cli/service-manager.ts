import { spawn } from 'node:child_process'
import type { Variables } from '../support/env/environment.ts'
import { readableError } from '../support/readable-error.ts'

/** The service manager that supervises this process: systemd, or none. */
export interface ServiceManager {
  /** The application serves; also the end of a reload. */
  ready(): void
  reloading(): void
  stopping(): void
}

/** The parts of the machine that this needs. Tests have others. */
interface Machine {
  /** Runs a program to its end. @returns an error message, or undefined. */
  run(program: string, args: readonly string[]): Promise<string | undefined>
  /** Calls a function in an interval of milliseconds. */
  every(interval: number, call: () => void): void
}

const machine: Machine = {
  run: runProgram,
  every: (interval, call) => void setInterval(call, interval).unref(),
}

/** Signs of life for each limit of the watchdog: sd_watchdog_enabled(3) recommends two, and one can be late. */
const SIGNS = 3

/**
 * Tells systemd the state of this process, and that it is alive (`WatchdogSec`). Node has no datagram sockets of Unix, so
 * this runs `systemd-notify`, which the unit must permit: `NotifyAccess=all`. Without the variable `NOTIFY_SOCKET`, and
 * in a process that systemd did not start, it does nothing.
 * @param warn called once, if the program cannot be run; by default it writes to standard error.
 */
export function findServiceManager(
  variables: Variables,
  warn = (problem: string): void => void process.stderr.write(`mortar: ${problem}\n`),
  { run, every }: Machine = machine,
): ServiceManager {
  if (!variables['NOTIFY_SOCKET']) return { ready() {}, reloading() {}, stopping() {} }
  let hasWarned = false
  const tell = async (...state: readonly string[]): Promise<void> => {
    // A process that cannot be forked, for want of memory, is thrown.
    const problem = await run('systemd-notify', state).catch((error: unknown) => readableError(error))
    if (problem === undefined || hasWarned) return
    hasWarned = true
    warn(`systemd cannot be told the state of this process: ${problem}`)
  }
  let last: Promise<void> = Promise.resolve()
  // One after the other, because their order has a meaning.
  const send = (...state: readonly string[]): void => {
    last = last.then(() => tell(...state))
  }
  const limit = watchdogOf(variables)
  let isTelling = false
  // Not in line with the states: a process that stops may end before a slow sign of life does.
  const tellAlive = async (): Promise<void> => {
    if (isTelling) return
    isTelling = true
    await tell('WATCHDOG=1')
    isTelling = false
  }
  if (limit !== undefined) every(limit / SIGNS, () => void tellAlive())
  return {
    ready: () => send('READY=1'),
    // systemd compares its clock with the moment of the reload: CLOCK_MONOTONIC, in microseconds.
    reloading: () => send('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`),
    // Not in line either, for the same reason. A state that comes later than this one has no effect in systemd.
    stopping: () => void tell('STOPPING=1'),
  }
}

/** Tells the service manager that one process serves or works, and when it stops. */
export function reportState(manager: ServiceManager): void {
  manager.ready()
  // A listener would keep an application alive that does not handle signals.
  if (process.listenerCount('SIGTERM') > 0) process.prependListener('SIGTERM', () => manager.stopping())
}

/** Milliseconds after which the watchdog of systemd ends this process; undefined without one. */
function watchdogOf({ WATCHDOG_USEC: limit, WATCHDOG_PID: pid }: Variables): number | undefined {
  const isMine = !pid || Number(pid) === process.pid
  return isMine && Number(limit) > 0 ? Number(limit) / 1000 : undefined
}

function runProgram(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'ignore' })
    child.on('error', (error) => resolve(error.message))
    child.on('exit', (code) => resolve(code === 0 ? undefined : `${program} ended with ${code}`))
  })
}
