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
  /** The fault and its location: the message without the remedy and the code. */
  readonly found: string
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
    this.found = found
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

/**
 * Several configuration faults, so that one run shows all of them. With one fault it has the message, code and remedy of
 * that fault.
 */
export class StartupErrors extends StartupError {
  readonly errors: readonly StartupError[]

  constructor(summary: string, errors: readonly StartupError[]) {
    const [only, ...others] = errors
    if (only !== undefined && others.length === 0) super(only.found, optionsOf(only))
    else super(`${summary}\n${listOf(errors)}`, severalErrors(errors))
    this.errors = errors
  }
}

function optionsOf({ code, remedy, files, brick, page, cause }: StartupError): StartupErrorOptions {
  return {
    code,
    remedy,
    files,
    ...(brick !== undefined && { brick }),
    ...(page !== undefined && { page }),
    ...(cause !== undefined && { cause }),
  }
}

function listOf(errors: readonly StartupError[]): string {
  return errors.map((error) => `- ${error.message}`).join('\n')
}

function severalErrors(errors: readonly StartupError[]): StartupErrorOptions {
  return {
    code: 'MORTAR_SEVERAL_ERRORS',
    remedy: 'Fix each finding above.',
    files: errors.flatMap((error) => error.files),
  }
}

/** The oldest version of Node that runs the framework: major and minor. */
const OLDEST = [20, 19] as const

/**
 * Refuses an older Node with its version. Called when the framework is imported: newer functions of Node would fail
 * later, in ways that do not name the reason.
 */
function refuseOldNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return
  const message = `Mortar needs Node ${OLDEST.join('.')} or later. This is Node ${version}.`
  throw Object.assign(new Error(message), { code: 'MORTAR_DOCTOR_NODE' })
}

// Here, because every entry point of the framework evaluates this module before those that need a newer Node.
refuseOldNode(process.versions.node)
