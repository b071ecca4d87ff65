/** Number of causes to follow, so that a circle of causes ends. */
const DEPTH = 8

/** An error with the members that errors of Node and of drivers have. */
export interface ChainedError {
  readonly error: unknown
  readonly code: unknown
  readonly errno: unknown
  readonly message: unknown
  readonly host: unknown
  readonly port: unknown
  readonly isOutage: boolean
}

/**
 * Lists an error and what has caused it: the error of a driver inside TypeORM's, the errors of all addresses of a host,
 * and each `cause`. Never throws: an error that cannot be read is left out.
 */
export function errorChain(error: unknown, depth = DEPTH): readonly ChainedError[] {
  if (typeof error !== 'object' || error === null || depth === 0) return []
  try {
    const thrown = error as Thrown
    const { code, errno, message, address, hostname, port, driverError, errors, cause } = thrown
    const inner = [driverError, ...(Array.isArray(errors) ? (errors as unknown[]) : []), cause]
    const isOutage = thrown['isOutage'] === true
    const found = { error, code, errno, message, host: address ?? hostname, port, isOutage }
    return [found, ...inner.flatMap((each) => errorChain(each, depth - 1))]
  } catch {
    return []
  }
}

type Thrown = Readonly<Record<string, unknown>>
