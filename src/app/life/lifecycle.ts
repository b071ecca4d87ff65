import { AsyncLocalStorage } from 'node:async_hooks'
import type { AnyBrick, WorkingProcess } from '../../bricks/brick.ts'
import type { Container } from '../../container/container.ts'
import type { Cradle } from '../../contracts/services.ts'
import type { Logger } from '../../contracts/logger.ts'
import { readResolution } from '../../compat/awilix.ts'
import { describeError } from '../../errors/describe-error.ts'
import { StartupError } from '../../errors/startup-error.ts'
import { countdown, stopped } from '../../support/with-deadline.ts'

/** Starts and stops the bricks of an application, and disposes of its services. */
export type Lifecycle = ReturnType<typeof createLifecycle>

/**
 * @param timeout seconds for the stop of each brick; all of them and the services have twice as long.
 * @param patience seconds after which a brick that is still starting is named.
 */
export function createLifecycle(container: Container, logger: Logger, timeout: number, patience = 10) {
  const started: AnyBrick[] = []
  const caller = new AsyncLocalStorage<AnyBrick>()
  let starting: AnyBrick | undefined
  let isStopped = false
  const services = container.cradle as Cradle

  async function stop(left = countdown(2 * timeout)): Promise<void> {
    isStopped = true
    for (let brick = started.pop(); brick; brick = started.pop())
      try {
        await stopped(brick.stop?.(services), timeout, left)
      } catch (error) {
        const message = `The brick '${brick.name}' did not stop properly`
        logger.error({ brick: brick.name, err: describeError(error) }, message)
      }
    await container.dispose(left)
  }

  return {
    /**
     * Starts the bricks in the given order, then lets them begin their work in the background. If one fails, the bricks that have started are stopped in reverse order. A
     * brick that is still starting during `stop()` is stopped as soon as it has started, and no further brick starts.
     * @throws StartupError, `MORTAR_NO_WORK` for a process that serves no requests and has no work.
     */
    async start(bricks: readonly AnyBrick[], process: WorkingProcess) {
      if (!process.servesRequests && bricks.every(({ work }) => work === undefined)) throw noWork()
      const step = async (brick: AnyBrick, run: () => unknown): Promise<void> => {
        starting = brick
        try {
          await caller.run(brick, run)
        } catch (error) {
          await stop()
          throw startFailure(brick, error)
        } finally {
          starting = undefined
          // While it is enabled, each promise of the process costs time on Node before 24.
          caller.disable()
        }
      }
      for (const brick of bricks) {
        await step(brick, () => startNamed(brick, services, logger, patience))
        started.push(brick)
        if (isStopped) return stop()
      }
      for (const brick of bricks) if (!isStopped) await step(brick, () => brick.work?.(services, process))
    },
    /**
     * Stops the started bricks in reverse order, then disposes of the services. A brick or disposer that fails or exceeds
     * the deadline is logged and does not prevent the others from stopping. After the seconds that are `left` it waits for
     * none of them.
     */
    stop,
    /** Runs work that waits for the start. @throws StartupError if a brick that is starting makes this call. */
    outsideStart<T>(work: () => T): T {
      if (starting !== undefined && caller.getStore() === starting) throw waitsForItself(starting)
      return work()
    },
  }
}

/** Starts a brick. A `start` that never settles would otherwise leave no line at all. */
async function startNamed(
  brick: AnyBrick,
  services: Cradle,
  logger: Logger,
  patience: number,
): Promise<void> {
  const timer = setTimeout(() => {
    logger.warn(
      { brick: brick.name },
      `The brick '${brick.name}' is still starting after ${patience} s: the promise of its start() has not settled. ` +
        'The application waits for it before it listens. So does app.ready(), which no start() may await.',
    )
  }, patience * 1000)
  try {
    await brick.start?.(services)
  } finally {
    clearTimeout(timer)
  }
}

function waitsForItself({ name }: AnyBrick): StartupError {
  return new StartupError(`The brick '${name}' calls app.inject() while it starts, and waits for itself.`, {
    code: 'MORTAR_BRICK_START',
    remedy: 'Call what the route does directly, or send the request after app.ready().',
    brick: name,
  })
}

function noWork(): StartupError {
  return new StartupError('No brick of the application works in the background.', {
    code: 'MORTAR_NO_WORK',
    remedy: 'Add one that does, such as jobs: npx mortar add jobs. For requests use npx mortar start.',
  })
}

function startFailure(brick: AnyBrick, error: unknown): StartupError {
  if (error instanceof StartupError) return error
  const { kind, missing } = readResolution(error) ?? {}
  if (kind === 'missing' && missing !== undefined)
    return new StartupError(
      `The brick '${brick.name}' needs the service '${missing}', which is not registered.`,
      {
        code: 'MORTAR_SERVICE_MISSING',
        remedy: `Use the brick that provides '${missing}', or app.provide it.`,
        brick: brick.name,
        cause: error,
      },
    )
  const reason = error instanceof Error ? error.message : String(error)
  return new StartupError(`The brick '${brick.name}' failed to start: ${reason}`, {
    code: 'MORTAR_BRICK_START',
    remedy: `Fix the reported fault in the options of '${brick.name}' or in the service that it connects to.`,
    brick: brick.name,
    cause: error,
  })
}
