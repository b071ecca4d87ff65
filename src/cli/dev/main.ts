import { tell } from './messages.ts'
import { serveForDevelopment, type ServingOptions } from './serve-for-development.ts'

/** A message that the framework did not write may quote a password, such as that of a database address, and the port may be open to others. */
const UNEXPLAINED = 'The application could not start. The terminal shows the error.'

/** Entry point of the process that `mortar dev` starts. Its argument is the options as JSON. */
try {
  await serveForDevelopment(JSON.parse(process.argv[2] ?? '{}') as ServingOptions)
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`${isExplained(error) ? message : error instanceof Error ? error.stack : message}\n`)
  // Parts that had already started would keep the process running.
  tell({ type: 'failed', message: isExplained(error) ? message : UNEXPLAINED }, () => process.exit(1))
}

/** True for a fault that the message explains. The stack of a syntax error has only frames of the compiler. */
function isExplained(error: unknown): boolean {
  if (!(error instanceof Error)) return true
  return error.name === 'StartupError' || error.message.startsWith('Transform failed with ')
}
