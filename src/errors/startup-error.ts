/** Place and remedy of a wrong set-up. */
export interface StartupErrorOptions {
  /** Stable code, such as `MORTAR_BRICK_DUPLICATE`. `docs/startup-errors.md` has a row for each. */
  readonly code: string
  /** What to do about it, in one sentence. */
  readonly remedy: string
  /** The files concerned, if files are. */
  readonly files?: readonly string[]
  /** The brick concerned, if one is. */
  readonly brick?: string
  /** Page that explains the code, as a URL; `docs/startup-errors.md` of this package by default. */
  readonly page?: string
  readonly cause?: unknown
}

/**
 * A wrong set-up, found before the first request: for the developer, never for a caller.
 * The message holds what was found, where, and the remedy.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError'
  readonly code: string
  readonly remedy: string
  readonly files: readonly string[]
  readonly brick: string | undefined
  readonly page: string | undefined

  constructor(found: string, options: StartupErrorOptions) {
    super(
      `${found}\n  Remedy: ${options.remedy} [${options.code}]`,
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.code = options.code
    this.remedy = options.remedy
    this.files = options.files ?? []
    this.brick = options.brick
    this.page = options.page
  }
}

/** Several wrong set-ups found in one run, so that one run shows them all. */
export class StartupErrors extends StartupError {
  readonly errors: readonly StartupError[]

  constructor(summary: string, errors: readonly StartupError[]) {
    const list = errors.map((error) => `- ${error.message}`).join('\n')
    super(`${summary}\n${list}`, {
      code: 'MORTAR_SEVERAL_ERRORS',
      remedy: 'Fix each finding above.',
      files: errors.flatMap((error) => error.files),
    })
    this.errors = errors
  }
}
