import type { Resolver } from 'awilix/browser'
import type { RequestScope } from '../context/context.ts'
import { takeDisposables } from './disposal.ts'
import type { Container } from './container.ts'
import { explainInRequest } from './explain-resolution.ts'

/**
 * Opens an awilix scope for one request. Its `resolve` explains failures, and its `dispose` runs disposers in reverse
 * order of creation.
 * @param own the resolvers of `ctx`, `user` and `requestId`.
 * @param checked receives every service that the scope resolves by name, and returns it or throws.
 */
export function openScope(
  container: Container,
  own: Readonly<Record<string, Resolver<unknown>>>,
  checked: (name: string, instance: unknown) => unknown,
): RequestScope {
  const scope = container.awilix.createScope()
  scope.register(own)
  const { resolve } = scope
  scope.resolve = (name: string, options?: object) => {
    try {
      return checked(name, resolve(name, options))
    } catch (error) {
      const owner = container.ownerOf(name) ?? 'ctx.scope'
      throw explainInRequest(error, name, owner, Object.keys(scope.registrations))
    }
  }
  scope.dispose = () => container.disposeAll(takeDisposables(scope.cache))
  return Object.assign(scope, { has: (name: string) => Object.hasOwn(scope.registrations, name) })
}
