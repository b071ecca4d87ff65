import { loadEnvFiles } from 'mortar'
import { ensureSecret } from './ensure-secret.ts'

/** `npm start`: the reference application, with what it needs made on the first start. */
const root = process.cwd()
const written = ensureSecret(root)
if (written !== undefined) process.stdout.write('Made a secret in .env\n')
loadEnvFiles(root)
await import('../examples/notes/server.ts')
