import { ignore } from '../../support/ignore.ts'
import { allowTypeScript } from '../project/import-typescript.ts'
import { findRoot } from '../project/project.ts'
import { tell, type ToServer } from './messages.ts'
import { serveForDevelopment, type ServingOptions } from './serve-for-development.ts'

/** A message that the framework did not write may quote a password, such as that of a database address, and the port may be open to others. */
const UNEXPLAINED = 'The application could not start. The terminal shows the error.'

/**
 * Entry point of the process that `mortar dev` starts before the change that will need it: the framework and the loader
 * of TypeScript are ready when the message `start` arrives. Its argument is the options as JSON.
 */
const options = JSON.parse(process.argv[2] ?? '{}') as ServingOptions
/** The end of the watching process, which a closed terminal kills, ends this one, also while the application starts. */
const leave = (): void => process.exit(0)
process.once('disconnect', leave)
if (process.connected === false) leave()
try {
  const typeScript = allowTypeScript(findRoot(process.cwd()))
  typeScript.catch(ignore)
  if (options.waits) await untilStart()
  await typeScript
  await serveForDevelopment(options, () => process.off('disconnect', leave))
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`${isExplained(error) ? message : error instanceof Error ? error.stack : message}\n`)
  // Parts that had already started would keep the process running.
  tell({ type: 'failed', message: isExplained(error) ? message : UNEXPLAINED }, () => process.exit(1))
}

function untilStart(): Promise<void> {
  return new Promise((resolve) => {
    process.once('message', (message: ToServer) => {
      if (message.type === 'start') resolve()
    })
  })
}

/** True for a fault that the message explains. The stack of a syntax error has only frames of the compiler. */
function isExplained(error: unknown): boolean {
  if (!(error instanceof Error)) return true
  return error.name === 'StartupError' || error.message.startsWith('Transform failed with ')
}
