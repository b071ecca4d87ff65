import { readResolution } from '../compat/awilix.ts'
import type { DoctorFinding } from '../contracts/doctor-finding.ts'
import { StartupError } from '../errors/startup-error.ts'
import { ignore } from '../support/ignore.ts'
import { didYouMean } from '../support/nearest.ts'

/**
 * Turns a failed resolution into an error for the developer: the service, its owner, the dependency path and the
 * remedy. An error that a factory throws becomes the cause.
 */
export function explainResolution(
  error: unknown,
  name: string,
  owner: string,
  known: readonly string[],
): StartupError {
  if (error instanceof StartupError) return error
  const { code, found, remedy } = faultOf(error, name, owner, known)
  return new StartupError(found, { code, remedy, cause: error })
}

type Fault = Pick<DoctorFinding, 'code' | 'found' | 'remedy'>

function faultOf(error: unknown, name: string, owner: string, known: readonly string[]): Fault {
  const failed = readResolution(error)
  const service = `The service '${name}' of ${owner}`
  const reason = error instanceof Error ? error.message : String(error)
  if (failed === undefined)
    return {
      code: 'MORTAR_SERVICE_FACTORY',
      found: `${service} could not be made: ${reason}`,
      remedy: 'Fix its factory; the cause of this error has the stack.',
    }
  const { kind, path = name, missing = name } = failed
  if (kind === 'lifetime')
    return {
      code: 'MORTAR_SERVICE_LIFETIME',
      found: `A service depends on one with a shorter lifetime: ${path} (registered by ${owner}).`,
      remedy:
        'Give the first service the shorter lifetime, or the second one a longer lifetime: asClass() and asFunction() of awilix are transient unless they have another lifetime.',
    }
  if (kind === 'circular')
    return {
      code: 'MORTAR_SERVICE_CIRCULAR',
      found: `Services depend on each other in a circle: ${path}.`,
      remedy: 'Move the shared part into a third service.',
    }
  // The message of awilix cannot be read: its own words say the reason.
  if (kind === 'unknown')
    return {
      code: 'MORTAR_SERVICE_MISSING',
      found: `${service} could not be resolved: ${reason}`,
      remedy: 'Register what the message of awilix names, or correct the lifetimes.',
    }
  return {
    code: 'MORTAR_SERVICE_MISSING',
    found: `${service} depends on '${missing}', which is not registered: ${path}.`,
    remedy: didYouMean(missing, known, `Use the brick that provides '${missing}', or app.provide it.`),
  }
}

/**
 * Returns the error for a resolution that failed during a request: an explained error if awilix refused it, or the
 * unchanged error of a factory.
 */
export function explainInRequest(
  error: unknown,
  name: string,
  owner: string,
  known: readonly string[],
): unknown {
  const failed = readResolution(error)
  if (failed === undefined) return error
  const message =
    failed.missing === name && !failed.isNested
      ? `No service is named '${name}'. Register it with app.provide or through a brick.`
      : explainResolution(error, name, owner, known).message
  return new Error(message, { cause: error })
}

/**
 * The error for a singleton that is a promise: its users would get the promise, and a rejection would end the process.
 * A scoped service may be a promise, which a handler awaits.
 */
export function asynchronous(made: Promise<unknown>, name: string, owner: string): StartupError {
  made.catch(ignore)
  return new StartupError(`The singleton '${name}' of ${owner} is a promise: its factory is asynchronous.`, {
    code: 'MORTAR_SERVICE_PROMISE',
    remedy: `Make the object in the factory and connect it in the \`start\` of a brick, or await it before: ${name}: value(await …).`,
  })
}

interface NamedServices {
  readonly cradle: Readonly<Record<string, unknown>>
  readonly names: readonly string[]
  ownerOf(name: string): string | undefined
}

/** Returns the services of an application by name. The error for a name that is not registered says what to do. */
export function explainedServices(
  container: NamedServices,
  isAssembled: () => boolean,
): NamedServices['cradle'] {
  return new Proxy(container.cradle, {
    get(cradle, key) {
      const name = key as string
      try {
        return cradle[name]
      } catch (error) {
        if (!isAssembled() && readResolution(error)?.kind === 'missing') throw readEarly(name)
        throw explainInRequest(error, name, container.ownerOf(name) ?? 'app.services', container.names)
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
