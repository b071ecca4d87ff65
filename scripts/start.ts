import { loadEnvFiles, StartupError } from 'mortar'
import { ensureSecret } from './ensure-secret.ts'

/** `npm start`: the reference application, with what it needs made on the first start. */
const root = process.cwd()
try {
  if (ensureSecret(root) !== undefined) process.stdout.write('Made a secret in .env\n')
  loadEnvFiles(root)
  await import('../examples/notes/server.ts')
} catch (error) {
  // A wrong set-up is told by its message, which names the remedy; the stack is for what nobody expected.
  if (!(error instanceof StartupError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
