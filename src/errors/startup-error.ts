/** Location and remedy of a configuration fault. */
export interface StartupErrorOptions {
  /** Stable code, such as `MORTAR_BRICK_DUPLICATE`. `docs/startup-errors.md` has a row for each. */
  readonly code: string
  /** The remedy, in one sentence. */
  readonly remedy: string
  /** The affected files, if any. */
  readonly files?: readonly string[]
  /** The affected brick, if any. */
  readonly brick?: string
  /** Page that explains the code, as a URL; `docs/startup-errors.md` of this package by default. */
  readonly page?: string
  readonly cause?: unknown
}

/**
 * A configuration fault that is found before the first request, for the developer and never for a caller. The message
 * names the fault, its location and the remedy.
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
    printWhenUncaught()
  }
}

let isPrinting = false

/**
 * Prints a `StartupError` that ends the process as its message alone, and exits with 1: the stack trace of a fault in the
 * configuration helps nobody. Other errors, and applications that handle uncaught exceptions, are not affected.
 */
function printWhenUncaught(): void {
  if (isPrinting) return
  isPrinting = true
  process.on('uncaughtExceptionMonitor', (error) => {
    if (!(error instanceof StartupError) || process.listenerCount('uncaughtException') > 0) return
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  })
}

/** Several configuration faults, so that one run shows all of them. */
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
