import { asValue } from 'awilix/browser'
import type { User } from '../contracts/user.ts'
import type { Container } from './container.ts'
import { openScope } from './request-scope.ts'

/** Returns what an inspection shows of a container. Its scopes have the services of a request, without `ctx`. */
export function inspectContainer(container: Container) {
  const { names: serviceNames, resolveSingletons } = container
  return {
    serviceNames,
    resolveSingletons,
    openScope(user: User | null) {
      const own = { user: asValue(user), requestId: asValue('console') }
      const scope = openScope(container, own, (_name, instance) => instance)
      return { services: scope.cradle, dispose: () => scope.dispose() }
    },
  }
}
