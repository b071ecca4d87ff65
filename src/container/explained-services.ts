import { readResolution } from '../compat/awilix.ts'
import { StartupError } from '../errors/startup-error.ts'
import type { Container } from './container.ts'
import { explainInRequest } from './explain-resolution.ts'

/** Returns the services of an application by name. The error for a name that is not registered says what to do. */
export function explainedServices(
  { cradle, ownerOf, awilix }: Pick<Container, 'cradle' | 'ownerOf' | 'awilix'>,
  isAssembled: () => boolean,
): Container['cradle'] {
  return new Proxy(cradle, {
    get(_target, key) {
      const name = key as string
      try {
        return cradle[name]
      } catch (error) {
        if (!isAssembled() && readResolution(error)?.kind === 'missing') throw readEarly(name)
        throw explainInRequest(
          error,
          name,
          ownerOf(name) ?? 'app.services',
          Object.keys(awilix.registrations),
        )
      }
    },
  })
}

function readEarly(name: string): StartupError {
  return new StartupError(`app.services.${name} was read before the start.`, {
    code: 'MORTAR_SERVICE_EARLY',
    remedy: 'Read it after await app.ready() or app.listen(), or in a handler or the start of a brick.',
  })
}
