import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { unknownMode, type Variables } from '../../support/env/environment.ts'
import { secret } from '../../support/env/kinds.ts'
import { weaknessOfSecret } from '../../support/weak-secret.ts'
import { type Finding, finding } from './finding.ts'

/** Names of variables whose values sign or encrypt. */
const SECRET = /(?:^|_)SECRETS?$/

/** Checks the mode, the strength of secrets and the access to their file. Never shows a value. */
export function checkEnvironment(root: string, variables: Variables): Finding[] {
  return [...checkMode(variables), ...checkSecrets(variables), ...checkFile(root)]
}

function checkMode(variables: Variables): Finding[] {
  if (unknownMode(variables) === undefined) return []
  return [
    finding(
      'warning',
      'MORTAR_DOCTOR_ENVIRONMENT',
      'NODE_ENV is not one of development, test, production, so the application may run in development mode.',
      'Set NODE_ENV=production on servers, and leave it out elsewhere.',
    ),
  ]
}

function checkSecrets(variables: Variables): Finding[] {
  const secrets = Object.entries(variables).filter(([name, value]) => SECRET.test(name) && value)
  return secrets.flatMap(([name, value = '']) => {
    // A list of secrets for a rotation: AUTH_SECRETS.
    const each = name.endsWith('S') ? value.split(',').map((item) => item.trim()) : [value]
    const weakness = each.map(weaknessOfSecret).find((found) => found !== undefined)
    if (weakness === undefined) return []
    return [
      isOwn(name)
        ? finding(
            'error',
            'MORTAR_DOCTOR_SECRET',
            `${name} ${weakness}, so others could sign sessions.`,
            `Generate 32 random bytes: ${name}=${secret.example}`,
          )
        : finding(
            'warning',
            'MORTAR_DOCTOR_SECRET',
            `${name} ${weakness}, so others could guess it.`,
            'Generate 32 random bytes, unless another service issued the value.',
          ),
    ]
  })
}

/** True for the secrets of the framework; any other one may be from another service, such as WEBHOOK_SECRET. */
function isOwn(name: string): boolean {
  return /^(?:AUTH|SESSION|COOKIE|APP|MORTAR)_SECRETS?$|^SECRETS?$/.test(name)
}

function checkFile(root: string): Finding[] {
  const stats = statSync(join(root, '.env'), { throwIfNoEntry: false })
  if (stats === undefined) return []
  const open = process.platform !== 'win32' && (stats.mode & 0o004) !== 0
  return [
    ...(ignored(root) ? [] : [exposed('git does not ignore it', 'Add the line .env to .gitignore.')]),
    ...(open ? [exposed('every user of this machine can read it', 'Run chmod 600 .env.')] : []),
  ]
}

function exposed(what: string, remedy: string): Finding {
  return finding('warning', 'MORTAR_DOCTOR_ENV_FILE', `.env contains secrets, and ${what}.`, remedy)
}

function ignored(root: string): boolean {
  // Without git, the file cannot be committed.
  if (statSync(join(root, '.git'), { throwIfNoEntry: false }) === undefined) return true
  try {
    return readFileSync(join(root, '.gitignore'), 'utf8')
      .split('\n')
      .some((line) => /^\/?(?:\*\*\/)?\.env\*?$/.test(line.trim()))
  } catch {
    return false
  }
}
