import type { AnyRegistration, Registrations, RequestServices } from '../container/registration.ts'
import type { BrickServices, Cradle, CoreServices } from '../contracts/services.ts'
import type { BrickCommand } from '../contracts/brick-command.ts'
import type { BrickEntry } from '../routing/brick-entry.ts'
import type { DoctorFinding } from '../contracts/doctor-finding.ts'
import type { StartupCodes } from '../errors/brick-errors.ts'
import type { Problems } from '../errors/codes.ts'
import type { HttpError } from '../errors/http-error.ts'
import type { Context } from '../context/context.ts'
import type { Peers } from '../peers/peers.ts'
import type { Middleware } from '../routing/route.ts'
import type { AnyRouter } from '../routing/router.ts'
import type { HealthChecks } from './health-check.ts'

/** Computes a ctx member from the services by name and the current `ctx`, on first read in each request. */
export type MemberFactory<T, Services = CoreServices> = (services: Cradle<Services>, ctx: Context) => T

/** The kind of a process in which bricks work in the background. */
export interface WorkingProcess {
  /** False in `mortar work`. */
  readonly servesRequests: boolean
  /** Aborts when the application begins to stop. It serves on for `drainDelay`, but begins no further work. */
  readonly stopping: AbortSignal
}

/**
 * An extension of an application: a plain object of optional slots.
 * Make one with `defineBrick`, which infers the types of its services and members.
 */
export interface Brick<
  Name extends string = string,
  Services extends object = object,
  Members extends object = object,
> {
  readonly name: Name
  /** Names of required bricks or services. Those bricks start before this one and stop after it. */
  readonly requires?: readonly string[]
  /** Names of bricks that start before this one if they are registered. */
  readonly after?: readonly string[]
  /**
   * The package of the brick, `from: import.meta.url`, and packages that the user chooses. The start checks that it is made for
   * this version of the framework, and names the missing packages of all bricks together.
   */
  readonly peers?: Peers | readonly Peers[]
  readonly services?: Registrations<Services>
  readonly members?: { readonly [Member in keyof Members]: MemberFactory<Members[Member]> }
  /** Routers of the brick; a function if they depend on the environment. */
  readonly routes?: readonly AnyRouter[] | ((core: CoreServices) => readonly AnyRouter[])
  /**
   * Middleware around the whole application, outside the middleware of directories; a function if it depends on the
   * environment.
   */
  readonly middleware?: readonly Middleware[] | ((core: CoreServices) => readonly Middleware[])
  /** Asynchronous start, in dependency order. An error stops the bricks that had started, in reverse. */
  readonly start?: (services: Cradle) => unknown
  /**
   * Begins work in the background, after every brick has started, in the order of the starts. A command of an operator
   * starts bricks without it. `servesRequests` is false in `mortar work`. Begin no further work once `stopping` aborts; `stop` ends the work.
   */
  readonly work?: (services: Cradle, process: WorkingProcess) => unknown
  /**
   * Makes the brick refuse the writes of this process. The prompt of `mortar console` calls it in production, before `start`.
   * It throws if the brick cannot.
   */
  readonly refuseWrites?: (services: Cradle) => unknown
  /** Asynchronous stop, in reverse order, each with a deadline. */
  readonly stop?: (services: Cradle) => unknown
  /** Problem codes of the brick's errors, in lower case: `{ counter_full: { status: 409, title: 'Counter full' } }`. */
  readonly problems?: Problems
  /**
   * Turns an unexpected error into a response, for example an unreachable store into a 503. It sees every error that
   * reaches no response of its own, from whatever part of the application, and returns undefined for those of others.
   */
  readonly explainError?: (error: unknown) => HttpError | undefined
  /**
   * Codes of the brick's `StartupError`s, which begin with its name in capitals: `{ COUNTER_LIMIT: { cause, remedy }
   * }`.
   */
  readonly startupCodes?: StartupCodes
  /** Protocols that routes of the brick change their connections to, in lower case: `['websocket']`. */
  readonly upgrades?: readonly string[]
  /** Paths of pages for developers by label. `mortar dev` lists the pages whose routes exist. */
  readonly pages?: Readonly<Record<string, string>>
  /**
   * Findings for `mortar doctor`, which assembles the application without starting it: no connection is open, and
   * `services` makes a service when it is read.
   */
  readonly doctor?: (services: Cradle) => readonly DoctorFinding[] | Promise<readonly DoctorFinding[]>
  /** Commands of an operator by name: `{ users: { … } }` of the brick `auth` is `mortar auth users`. */
  readonly commands?: Readonly<Record<string, BrickCommand>>
  /**
   * Entry points that are not routes, for `mortar routes` and `app.inspect()`. A throw fails `mortar build`. No brick has
   * started.
   */
  readonly entries?: (services: Cradle) => readonly BrickEntry[] | Promise<readonly BrickEntry[]>
  /** Checks for `/readyz` by name: `{ db: { run: (services, signal) => …, timeout: '1s', cache: '5s' } }`. */
  readonly checks?: HealthChecks
}

/** Any brick, without the types of its services and members. */
export type AnyBrick = Brick<string, object, object>

/** The definition of a brick with its own services visible to its later slots, and `KnownServices` to all of them. */
export interface BrickDefinition<
  Name extends string,
  Services extends object,
  Members extends object,
> extends Omit<
  Brick<Name, Services, Members>,
  'services' | 'members' | 'start' | 'refuseWrites' | 'work' | 'stop' | 'doctor' | 'entries' | 'checks'
> {
  /** The second form accepts a factory that annotates its parameter with services that are not declared. */
  readonly services?: {
    readonly [Service in keyof Services]:
      AnyRegistration<Services[Service], BrickServices & RequestServices> | AnyRegistration<Services[Service]>
  }
  readonly members?: {
    readonly [Member in keyof Members]: (services: BrickServices<Services>, ctx: Context) => Members[Member]
  }
  readonly start?: (services: BrickServices<Services>) => unknown
  readonly work?: (services: BrickServices<Services>, process: WorkingProcess) => unknown
  readonly refuseWrites?: (services: BrickServices<Services>) => unknown
  readonly stop?: (services: BrickServices<Services>) => unknown
  readonly doctor?: (
    services: BrickServices<Services>,
  ) => readonly DoctorFinding[] | Promise<readonly DoctorFinding[]>
  readonly entries?: (
    services: BrickServices<Services>,
  ) => readonly BrickEntry[] | Promise<readonly BrickEntry[]>
  readonly checks?: HealthChecks<BrickServices<Services>>
}

/** Defines a brick; the types of its services and ctx members are read from the factories. */
export function defineBrick<
  const Name extends string,
  Services extends object = {},
  Members extends object = {},
>(definition: BrickDefinition<Name, Services, Members>): Brick<Name, Services, Members> {
  // The container passes the same cradle to every factory, and it contains the brick's own services.
  return definition as unknown as Brick<Name, Services, Members>
}
