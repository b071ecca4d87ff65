import { loadEnvFiles, StartupError } from 'mortar'
import { ensureSecret } from './ensure-secret.ts'

/** `npm start`: runs the reference application. The first start makes its secret and its database. */
const root = process.cwd()
try {
  if (ensureSecret(root) !== undefined) process.stdout.write('Made a secret in .env\n')
  loadEnvFiles(root)
  await import('../examples/notes/server.ts')
} catch (error) {
  // The message of a StartupError names the remedy. Only unexpected errors need a stack trace.
  if (!(error instanceof StartupError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
