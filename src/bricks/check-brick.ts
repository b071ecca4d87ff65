import { StartupError } from '../errors/startup-error.ts'
import type { Peers } from '../peers/peers.ts'
import { isRouter } from '../routing/router.ts'
import { isObject } from '../support/describe-value.ts'
import { nearest } from '../support/nearest.ts'
import type { Middleware } from '../routing/route.ts'
import type { AnyBrick } from './brick.ts'
import { checkCodes } from './check-codes.ts'

/**
 * Checks the shape of a brick at run time: a mistyped slot (`onStart`) would never run, and a value that is not a
 * router would be skipped silently.
 * @throws StartupError `MORTAR_BRICK_SHAPE`, or `MORTAR_BRICK_CODE` for a code with a wrong name or definition.
 */
export function checkBrick(brick: AnyBrick): void {
  if ('securityScheme' in brick) throw providerAsBrick(brick)
  for (const slot of Object.keys(brick))
    if (!SLOTS.includes(slot)) throw wrongShape(brick, `has the unknown slot '${slot}'`, remedyFor(slot))
  for (const [slot, { matches, found, remedy }] of Object.entries(SHAPES)) {
    const value = brick[slot as keyof AnyBrick]
    if (value !== undefined && !matches(value)) throw wrongShape(brick, `has ${found}`, remedy)
  }
  for (const [name, read] of Object.entries(brick.members ?? {}))
    if (!isFunction(read))
      throw wrongShape(
        brick,
        `has the member '${name}', which is not a function`,
        'Give (services, ctx) => value.',
      )
  checkCodes(brick)
}

interface Shape {
  readonly matches: (value: unknown) => boolean
  readonly found: string
  readonly remedy: string
}

const SHAPES = {
  requires: names('requires'),
  after: names('after'),
  upgrades: { ...names('upgrades'), remedy: "Write upgrades: ['websocket']." },
  peers: {
    matches: (value) => [value].flat().every((each) => isObject(each) && isPeers(each as Partial<Peers>)),
    found: "a 'peers' slot that cannot be checked",
    remedy: "Write peers: { from: import.meta.url, packages: ['a-package'] }.",
  },
  services: named('services'),
  members: named('members'),
  middleware: {
    matches: (value) => isFunction(value) || isListOf(value, isFunction),
    found: 'a middleware that is not a function',
    remedy: 'Give functions (ctx, next).',
  },
  problems: named('problems'),
  explainError: call('explainError'),
  startupCodes: named('startupCodes'),
  pages: {
    matches: (value) => isObject(value) && Object.values(value as object).every(isPath),
    found: `'pages' that are not an object from label to path`,
    remedy: "Write pages: { Counter: '/_framework/counter' }.",
  },
  start: call('start'),
  work: call('work'),
  refuseWrites: call('refuseWrites'),
  stop: call('stop'),
  doctor: call('doctor'),
  commands: named('commands'),
  entries: call('entries'),
  checks: named('checks'),
} as const satisfies Readonly<Record<Exclude<keyof AnyBrick, 'name' | 'routes'>, Shape>>

const SLOTS: readonly string[] = ['name', 'routes', ...Object.keys(SHAPES)]

function isPeers({ from, packages }: Partial<Peers>): boolean {
  return URL.canParse(String(from)) && isListOf(packages ?? [], (name) => typeof name === 'string')
}

function names(slot: string): Shape {
  const matches = (value: unknown): boolean => isListOf(value, (name) => typeof name === 'string')
  return { matches, found: `a '${slot}' that is not a list of names`, remedy: `Write ${slot}: ['database'].` }
}

function named(slot: string): Shape {
  const remedy = 'Give an object with a key for each name.'
  return { matches: isObject, found: `'${slot}' that are not an object`, remedy }
}

function call(slot: string): Shape {
  const found = `a '${slot}' that is not a function`
  return { matches: isFunction, found, remedy: 'Give the function itself.' }
}

/** Returns the routers of a brick. @throws StartupError `MORTAR_BRICK_SHAPE` for any other value. */
export function routersOf(brick: AnyBrick, given: unknown) {
  if (Array.isArray(given) && given.every(isRouter)) return given
  throw wrongShape(
    brick,
    'has routes that are not a list of routers',
    'Give a list of routers made by createRouter().',
  )
}

/** Returns the middleware of a brick. @throws StartupError `MORTAR_BRICK_SHAPE` for any other value. */
export function middlewareOf(brick: AnyBrick, given: unknown): readonly Middleware[] {
  if (isListOf(given, isFunction)) return given as readonly Middleware[]
  throw wrongShape(brick, `has ${SHAPES.middleware.found}`, SHAPES.middleware.remedy)
}

function isListOf(value: unknown, matches: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(matches)
}

function isPath(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('/')
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

function remedyFor(slot: string): string {
  const guess = nearest(slot, SLOTS) ?? nearest(slot.replace(/^on/, ''), SLOTS)
  return guess ? `Did you mean '${guess}'?` : `The slots are ${SLOTS.join(', ')}.`
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
