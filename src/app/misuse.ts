import type { AnyBrick } from '../bricks/brick.ts'
import { isBrick } from '../bricks/is-brick.ts'
import type { Logger } from '../contracts/logger.ts'
import { StartupError } from '../errors/startup-error.ts'
import type { Middleware } from '../routing/route.ts'
import { describeValue } from '../support/describe-value.ts'

/** Returns an item of `app.use` that is a brick. @throws StartupError `MORTAR_USE` for any other value. */
export function brickOf(item: unknown): AnyBrick {
  if (isBrick(item)) return item
  throw notUsable(item)
}

/** The error for an item that `app.use` does not accept. */
export function notUsable(item: unknown): StartupError {
  return new StartupError(
    `app.use was given ${describeValue(item)}, which is not a brick, router or middleware.`,
    {
      code: 'MORTAR_USE',
      remedy:
        'Pass the result of defineBrick or createRouter, or a function (ctx, next). Wrap Koa middleware in fromKoa() and ' +
        'a router of @koa/router in fromKoaRouter().',
    },
  )
}

/** The error for a brick in the list of bricks that is not one, such as `mail` in place of `mail({ … })`. */
export function notABrick(item: unknown): StartupError {
  if (typeof item !== 'function') return notUsable(item)
  const name = item.name || 'a function'
  return new StartupError(`The list of bricks has the function ${name}, which is not a brick.`, {
    code: 'MORTAR_USE',
    remedy: `Call it: ${item.name || 'brick'}({ … }). Middleware goes to app.use().`,
  })
}

/** Returns middleware, and warns of parameters that no caller gives. Express calls middleware with (req, res, next). */
export function checkMiddleware(run: Middleware, logger: Logger): Middleware {
  if (run.length > 2)
    logger.warn(
      `app.use was given ${run.name || 'middleware'} with ${run.length} parameters, but middleware gets (ctx, next): ` +
        'Express middleware (req, res, next) does not run here.',
    )
  return run
}

/** The error for a service that `app.provide` names twice. */
export function providedTwice(name: string): StartupError {
  return new StartupError(`The service '${name}' is provided twice by app.provide.`, {
    code: 'MORTAR_SERVICE_DUPLICATE',
    remedy: 'Rename one of them.',
  })
}

/** The error for starting a closed application. */
export function closedAlready(): StartupError {
  return new StartupError('The application was closed and cannot start again.', {
    code: 'MORTAR_CLOSED',
    remedy: 'Make a new one with createApp().',
  })
}

/** The error for a second call of `listen()`. */
export function listensAlready(url = 'an address that it is about to bind'): StartupError {
  return new StartupError(`The application is already listening at ${url}.`, {
    code: 'MORTAR_LISTENING',
    remedy: 'Call listen() once, or make a second application.',
  })
}

/** The error for starting the application in a process that only inspects it: its secrets may be placeholders. */
export function onlyInspected(): StartupError {
  return new StartupError(
    'This process only inspects the application (FRAMEWORK_MODE=inspect) and cannot start it.',
    {
      code: 'MORTAR_INSPECTING',
      remedy:
        'Create the application in app.ts and start it in server.ts, or remove FRAMEWORK_MODE from the environment.',
    },
  )
}

/** The error for a brick, service or override that is added after the start. */
export function tooLate(what: string): StartupError {
  return new StartupError(`${what} was added after the application had started.`, {
    code: 'MORTAR_TOO_LATE',
    remedy: 'Move it before ready() and listen(). Only routes can be added later.',
  })
}
