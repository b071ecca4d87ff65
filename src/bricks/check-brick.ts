import { StartupError } from '../errors/startup-error.ts'
import { isRouter } from '../routing/router.ts'
import type { Middleware } from '../routing/route.ts'
import { checkOptions, type OptionChecks } from '../support/check-options.ts'
import type { AnyBrick } from './brick.ts'
import { checkCodes } from './check-codes.ts'

const SLOTS: OptionChecks<AnyBrick>['keys'] = {
  name: 'string',
  requires: 'strings',
  after: 'strings',
  peers: ['object', 'list'],
  services: 'object',
  members: 'object',
  routes: ['list', 'function'],
  middleware: ['list', 'function'],
  start: 'function',
  work: 'function',
  refuseWrites: 'function',
  stop: 'function',
  problems: 'object',
  explainError: 'function',
  startupCodes: 'object',
  upgrades: 'strings',
  pages: 'object',
  doctor: 'function',
  commands: 'object',
  entries: 'function',
  checks: 'object',
}

/**
 * Checks the shape of a brick at run time: a mistyped slot (`onStart`) would never run, and a value that is not a
 * router would be skipped silently.
 * @throws StartupError `MORTAR_BRICK_SHAPE`, or `MORTAR_BRICK_CODE` for a code with a wrong name or definition.
 */
export function checkBrick(brick: AnyBrick): void {
  if ('securityScheme' in brick) throw providerAsBrick(brick)
  const { name, members = {}, pages = {}, peers = [] } = brick
  checkOptions(brick, { of: `the brick '${name}'`, keys: SLOTS, brick: name, code: 'MORTAR_BRICK_SHAPE' })
  if (!Object.values(members).every(isFunction))
    throw wrongShape(brick, 'has a member that is not a function', 'Give (services, ctx) => value.')
  if (!Object.values(pages).every(isPath))
    throw wrongShape(brick, 'has a page that is not a path', "Write pages: { Counter: '/counter' }.")
  if (![peers].flat().every(({ from }) => URL.canParse(from)))
    throw wrongShape(brick, "has a 'peers' slot without from", 'Write peers: { from: import.meta.url }.')
  checkCodes(brick)
}

/** Returns the routers of a brick. @throws StartupError `MORTAR_BRICK_SHAPE` for any other value. */
export function routersOf(brick: AnyBrick, given: unknown) {
  if (Array.isArray(given) && given.every(isRouter)) return given
  throw wrongShape(brick, 'has routes that are not a list of routers', 'Give what createRouter() returns.')
}

/** Returns the middleware of a brick. @throws StartupError `MORTAR_BRICK_SHAPE` for any other value. */
export function middlewareOf(brick: AnyBrick, given: unknown): readonly Middleware[] {
  if (Array.isArray(given) && given.every(isFunction)) return given as readonly Middleware[]
  throw wrongShape(brick, 'has a middleware that is not a function', 'Give functions (ctx, next).')
}

function isPath(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('/')
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

/** A provider of authentication has a name too, so that it passes for a brick. */
function providerAsBrick({ name }: AnyBrick): StartupError {
  return new StartupError(`'${name}' is a provider of authentication, not a brick.`, {
    code: 'MORTAR_BRICK_SHAPE',
    remedy: 'Pass it to the function `auth`, and register the result.',
  })
}

function wrongShape(brick: AnyBrick, found: string, remedy: string): StartupError {
  return new StartupError(`The brick '${brick.name}' ${found}.`, {
    code: 'MORTAR_BRICK_SHAPE',
    remedy,
    brick: brick.name,
  })
}
