import type { Attributes } from '@opentelemetry/api'
import type { ObservedRequest } from 'mortar'
import { KNOWN_METHODS } from 'mortar/kit'

/*
 * The semantic conventions for HTTP servers of OpenTelemetry 1.4x, without `url.path`, `url.query`, `client.address` and
 * `user_agent.original`: paths contain identifiers, queries contain credentials, and the others are personal data.
 */

/** Returns the name of a span: method and pattern, the method alone without a route, `HTTP` for an unknown method. */
export function spanName({ method, route }: ObservedRequest): string {
  const name = KNOWN_METHODS.has(method) ? method : 'HTTP'
  return route === undefined ? name : `${name} ${route}`
}

/** Returns the attributes that are known when a request begins, so that a sampler can use them. */
export function attributesAtStart({ method, route, req }: ObservedRequest): Attributes {
  return {
    'http.request.method': KNOWN_METHODS.has(method) ? method : '_OTHER',
    'url.scheme': (req.socket as { encrypted?: boolean }).encrypted === true ? 'https' : 'http',
    ...(route !== undefined && { 'http.route': route }),
  }
}

/** Returns the attributes of a finished request, and true if the server failed: a 4xx is not a failure of the server. */
export function attributesAtEnd({ status = 0, error }: ObservedRequest): {
  readonly attributes: Attributes
  readonly isError: boolean
} {
  const isError = status >= 500 || error !== undefined
  return {
    isError,
    attributes: {
      'http.response.status_code': status,
      ...(isError && { 'error.type': typeOf(error) ?? String(status) }),
    },
  }
}

/**
 * Returns the class of an error. Its message and stack may contain data of users and are not exported. An error whose
 * members cannot be read must not end the process, as a throw in a subscriber of a channel does.
 */
export function typeOf(error: unknown): string | undefined {
  try {
    if (!(error instanceof Error)) return undefined
    return nameOf(error.constructor) || nameOf(error) || undefined
  } catch {
    return undefined
  }
}

function nameOf(value: unknown): string {
  const { name } = (value ?? {}) as { readonly name?: unknown }
  return typeof name === 'string' ? name : ''
}
