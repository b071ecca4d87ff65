import { sendToParent } from '../../support/send-to-parent.ts'

/** The output of a build, for the process that proves it. All are `file:` URLs. */
export interface Proof {
  /** Every compiled file. */
  readonly files: readonly string[]
  readonly app: string
  readonly manifest: string | undefined
}

/** An error, as a process can send it. */
export interface SentError {
  readonly name: string
  readonly message: string
  readonly stack: string
  readonly code?: unknown
}

/** An error of the proof; `file` is undefined for an error of the whole application. */
export interface Failure {
  readonly file: string | undefined
  readonly error: SentError
}

interface Assembled {
  readonly batches: readonly object[]
  inspect(): Promise<{ entries(): Promise<unknown> }>
}

/** Evaluated before the linked modules; its error prevents their evaluation. */
const STOP = `data:text/javascript,throw ${encodeURIComponent('"linked"')}`

/**
 * Links modules: Node resolves, reads and parses them and everything that they import, and runs none of them. So
 * `server.js` does not listen, and migrations change nothing.
 */
async function link(files: readonly string[]): Promise<unknown> {
  const imports = [STOP, ...files].map((file) => `import ${JSON.stringify(file)}`)
  try {
    await import(`data:text/javascript,${encodeURIComponent(imports.join('\n'))}`)
  } catch (error) {
    if (error !== 'linked') return error
  }
  return undefined
}

/** Only a failure links the files one by one, to find all that are broken. */
async function linkEach(files: readonly string[]): Promise<Failure[]> {
  if ((await link(files)) === undefined) return []
  const failures: Failure[] = []
  for (const file of files) {
    const error = await link([file])
    if (error !== undefined) failures.push({ file, error: sent(error) })
  }
  return failures
}

async function assemble({ app: file, manifest }: Proof): Promise<Failure[]> {
  try {
    const { app } = (await import(file)) as { readonly app: Assembled }
    if (manifest !== undefined && app.batches.length === 0)
      ((await import(manifest)) as { registerRoutes(app: Assembled): void }).registerRoutes(app)
    await (await app.inspect()).entries()
    return []
  } catch (error) {
    return [{ file: undefined, error: sent(error) }]
  }
}

function sent(error: unknown): SentError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: '' }
  const { name, message, stack = '' } = error
  return { name, message, stack, ...('code' in error && { code: error.code }) }
}

const proof = await new Promise<Proof>((resolve) => {
  process.once('message', (message: Proof) => resolve(message))
})
const broken = await linkEach(proof.files)
const failures = broken.length > 0 ? broken : await assemble(proof)
// The application's modules may have left a timer, which would keep the process.
await sendToParent(process, failures)
process.exit()
