import {
  scoped,
  singleton,
  transient,
  type DisposeOptions,
  type Registration,
  type RequestServices,
} from '../container/registration.ts'
import type { CoreServices } from '../contracts/services.ts'
import type { ServicesOf, TypedApp } from '../routing/define-route.ts'

/**
 * The services of an application by name, with `ctx`, `user` and `requestId`. A parameter type for factories and
 * classes that awilix creates: `constructor({ db }: ServicesFor<typeof app>)`.
 */
export type ServicesFor<A extends TypedApp> = CoreServices & RequestServices & ServicesOf<A>

/** `singleton`, `scoped` and `transient` whose factories see `Known`, and no other names. */
export interface ServiceMakers<Known> {
  singleton<T>(
    factory: (services: CoreServices & Known) => T,
    options?: DisposeOptions<NoInfer<T>>,
  ): Registration<T, CoreServices & Known>
  scoped<T>(
    factory: (services: CoreServices & RequestServices & Known) => T,
    options?: DisposeOptions<NoInfer<T>>,
  ): Registration<T, CoreServices & RequestServices & Known>
  transient<T>(
    factory: (services: CoreServices & RequestServices & Known) => T,
  ): Registration<T, CoreServices & RequestServices & Known>
}

/**
 * Returns the registration functions for services in a module of their own:
 * `const { scoped } = servicesFor<typeof app>()`. Using a service that the application does not have is a type error.
 */
export function servicesFor<A extends TypedApp>(): ServiceMakers<ServicesOf<A>> {
  return { singleton, scoped, transient }
}
