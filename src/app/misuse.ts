import { StartupError } from '../errors/startup-error.ts'
import { describeValue } from '../support/describe-value.ts'

/** `app.use` was given an item of another kind. */
export function notUsable(item: unknown): StartupError {
  return new StartupError(
    `app.use was given ${describeValue(item)}, which is not a brick, router or middleware.`,
    {
      code: 'MORTAR_USE',
      remedy:
        'Give it what defineBrick or createRouter returned, or a function (ctx, next). Wrap Koa middleware in fromKoa(), and ' +
        'a router of @koa/router in fromKoaRouter().',
    },
  )
}

/** `app.provide` names a service a second time. */
export function providedTwice(name: string): StartupError {
  return new StartupError(`The service '${name}' is provided twice by app.provide.`, {
    code: 'MORTAR_SERVICE_DUPLICATE',
    remedy: 'Rename one of them.',
  })
}

/** An application that was closed is asked to start. */
export function closedAlready(): StartupError {
  return new StartupError('The application was closed and does not start again.', {
    code: 'MORTAR_CLOSED',
    remedy: 'Make a new one with createApp().',
  })
}

/** `listen()` is called a second time. */
export function listensAlready(url = 'an address that it is about to take'): StartupError {
  return new StartupError(`The application listens already, at ${url}.`, {
    code: 'MORTAR_LISTENING',
    remedy: 'Call listen() once, or make a second application.',
  })
}

/** The application is asked to serve in a process that only inspects it; its secrets may be placeholders. */
export function onlyInspected(): StartupError {
  return new StartupError(
    'This process only inspects the application (FRAMEWORK_MODE=inspect) and cannot start it.',
    {
      code: 'MORTAR_INSPECTING',
      remedy:
        'Let app.ts make the application and server.ts start it; take FRAMEWORK_MODE out of the environment.',
    },
  )
}

/** A brick, service or override that comes after the start. */
export function tooLate(what: string): StartupError {
  return new StartupError(`${what} came after the application had started.`, {
    code: 'MORTAR_TOO_LATE',
    remedy: 'Move it before ready() and listen(); routes alone may come later.',
  })
}
