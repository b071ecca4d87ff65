import type { Authenticator, SecurityScheme } from '../contracts/authenticator.ts'
import type { Environment } from '../contracts/environment.ts'
import type { Logger } from '../contracts/logger.ts'
import type { FormLimits } from '../support/form-limits.ts'

/** What the compiled routes of one application share. */
export interface PipelineRuntime {
  readonly environment: Environment
  readonly logger: Logger
  /** Undefined when no brick provides one; then a route with `auth` is refused at boot. */
  readonly authenticator: Authenticator | undefined
  /** Description of the credential in the OpenAPI document. */
  readonly securityScheme: SecurityScheme | undefined
  /** Origins besides the request's own whose pages may use a cookie credential for unsafe methods. */
  readonly trustedOrigins: readonly string[]
  /** Bytes. */
  readonly bodyLimit: number
  /** Seconds that a handler may take; 0 for no limit. */
  readonly handlerTimeout: number
  /** Limits of forms that a route does not set itself. */
  readonly multipart: FormLimits
  /** Issues of validation that a response lists. */
  readonly maxIssues: number
  /** What compiled routes load, so that the start waits for it and no request does. */
  readonly preloads: Set<() => Promise<unknown>>
}
