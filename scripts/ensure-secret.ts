import { randomBytes } from 'node:crypto'
import { appendFileSync, chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

/**
 * Makes `AUTH_SECRET` on the first start: 256 random bits in `.env`, which git ignores and only its owner may read.
 * A secret that is set already, there or in the environment, stays; in production none is made, as every process of a
 * service needs the same one.
 * @returns the file that was written, or undefined.
 */
export function ensureSecret(
  directory: string,
  environment: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const file = join(directory, '.env')
  const present = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (
    environment['NODE_ENV'] === 'production' ||
    environment['AUTH_SECRET'] ||
    environment['AUTH_SECRETS'] ||
    parseEnv(present)['AUTH_SECRET'] ||
    parseEnv(present)['AUTH_SECRETS']
  )
    return
  const separator = present === '' || present.endsWith('\n') ? '' : '\n'
  const secret = randomBytes(32).toString('base64url')
  appendFileSync(
    file,
    `${separator}# Signs sessions. Keep it secret; changing it signs everybody out.\nAUTH_SECRET=${secret}\n`,
    { mode: 0o600 },
  )
  // A file that was there keeps its mode, and others may read a copy of an example.
  chmodSync(file, 0o600)
  return file
}
