import type { AnyBrick } from '../bricks/brick.ts'
import type { Container } from '../container/container.ts'
import type { Cradle } from '../container/registration.ts'
import type { Logger } from '../contracts/logger.ts'
import { describeError } from '../errors/describe-error.ts'
import { StartupError } from '../errors/startup-error.ts'
import { withDeadline } from '../support/with-deadline.ts'

/** Starts and stops the bricks of an application, and disposes of its services. */
export interface Lifecycle {
  /**
   * Starts the bricks in the given order. If one fails, the bricks that have started are stopped in reverse order. A
   * brick that is still starting during `stop()` is stopped as soon as it has started, and no further brick starts.
   * @throws StartupError
   */
  start(bricks: readonly AnyBrick[]): Promise<void>
  /**
   * Stops the started bricks in reverse order, then disposes of the services. A brick or disposer that fails or exceeds
   * the deadline is logged and does not prevent the others from stopping.
   */
  stop(): Promise<void>
}

/** @param timeout seconds for the stop of each brick. */
export function createLifecycle(container: Container, logger: Logger, timeout: number): Lifecycle {
  const started: AnyBrick[] = []
  let isStopped = false
  const services = container.cradle as Cradle

  async function stop(): Promise<void> {
    isStopped = true
    for (let brick = started.pop(); brick; brick = started.pop())
      try {
        await withDeadline(Promise.resolve(brick.stop?.(services)), timeout)
      } catch (error) {
        logger.error(
          { brick: brick.name, err: describeError(error) },
          `The brick '${brick.name}' did not stop properly`,
        )
      }
    await container.dispose()
  }

  return {
    async start(bricks) {
      for (const brick of bricks)
        try {
          await brick.start?.(services)
          started.push(brick)
          if (isStopped) return await stop()
        } catch (error) {
          await stop()
          throw startFailure(brick, error)
        }
    },
    stop,
  }
}

function startFailure(brick: AnyBrick, error: unknown): StartupError {
  if (error instanceof StartupError) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new StartupError(`The brick '${brick.name}' failed to start: ${reason}`, {
    code: 'MORTAR_BRICK_START',
    remedy: `Fix the reported fault in the options of '${brick.name}' or in the service that it connects to.`,
    brick: brick.name,
    cause: error,
  })
}
