import { StartupError } from '../errors/startup-error.ts'
import { isRouter } from '../routing/router.ts'
import { nearest } from '../support/nearest.ts'
import type { AnyBrick } from './brick.ts'

const SLOTS = new Set([
  'name',
  'requires',
  'after',
  'services',
  'members',
  'routes',
  'middleware',
  'start',
  'stop',
  'doctor',
] as const satisfies readonly (keyof AnyBrick)[]) as ReadonlySet<string>

/**
 * Holds a brick to its shape where types did not: a mistyped slot (`onStart`) would never run, and what is no router
 * would be left out in silence.
 * @throws StartupError `MORTAR_BRICK_SHAPE`.
 */
export function checkBrick(brick: AnyBrick): void {
  for (const slot of Object.keys(brick))
    if (!SLOTS.has(slot)) throw wrongShape(brick, `has the slot '${slot}', which is none`, remedyFor(slot))
  for (const slot of ['start', 'stop', 'doctor'] as const)
    if (brick[slot] !== undefined && typeof brick[slot] !== 'function')
      throw wrongShape(brick, `has a '${slot}' that is not a function`, 'Give the function itself.')
  if (!(brick.middleware ?? []).every(isFunction))
    throw wrongShape(brick, 'has a middleware that is not a function', 'Give functions (ctx, next).')
  for (const [name, read] of Object.entries(brick.members ?? {}))
    if (!isFunction(read))
      throw wrongShape(
        brick,
        `has the member '${name}', which is not a function`,
        'Give (services, ctx) => value.',
      )
}

/** The routers of a brick. @throws StartupError `MORTAR_BRICK_SHAPE` for anything else in their place. */
export function routersOf(brick: AnyBrick, given: unknown) {
  if (Array.isArray(given) && given.every(isRouter)) return given
  throw wrongShape(
    brick,
    'has routes that are not a list of routers',
    'Give what createRouter() returned, in a list.',
  )
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

function remedyFor(slot: string): string {
  const guess = nearest(slot, SLOTS) ?? nearest(slot.replace(/^on/, ''), SLOTS)
  return guess ? `Did you mean '${guess}'?` : `The slots are ${[...SLOTS].join(', ')}.`
}

function wrongShape(brick: AnyBrick, found: string, remedy: string): StartupError {
  return new StartupError(`The brick '${brick.name}' ${found}.`, {
    code: 'MORTAR_BRICK_SHAPE',
    remedy,
    brick: brick.name,
  })
}
