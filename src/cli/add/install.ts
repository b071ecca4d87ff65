import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartupError } from '../../errors/startup-error.ts'
import { replaceFile } from '../replace-file.ts'

/**
 * Runs an installation. Its output goes to standard error, because it is not a result. On Windows package managers are
 * scripts, which need a shell.
 * @throws StartupError `MORTAR_CLI_INSTALL` when it fails.
 */
export async function runInstallation(
  [program = '', ...args]: readonly string[],
  folder: string,
): Promise<void> {
  const end = await new Promise<number | null | NodeJS.ErrnoException>((resolve) => {
    const child = spawn(program, program === 'npm' ? [...args, '--no-fund', '--no-audit'] : args, {
      cwd: folder,
      stdio: ['ignore', process.stderr, 'inherit'],
      shell: process.platform === 'win32',
    })
    child.once('error', resolve)
    child.once('close', resolve)
  })
  if (end === 0) return
  const command = `${[program, ...args].join(' ')} in ${folder}`
  const [reason, remedy] =
    end instanceof Error
      ? [
          `, because it does not start (${end.code})`,
          `Check that ${program} is installed. Then run ${command}.`,
        ]
      : ['', `Run ${command} after you have fixed what ${program} reports above.`]
  throw new StartupError(`${program} could not install the packages${reason}.`, {
    code: 'MORTAR_CLI_INSTALL',
    remedy,
  })
}

/** Adds packages to `allowScripts` of package.json: npm runs only the install scripts that are listed there. */
export function allowScripts(names: readonly string[], root: string): void {
  const file = join(root, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  const allowed = (manifest['allowScripts'] ?? {}) as Readonly<Record<string, unknown>>
  const added = names.filter((name) => !Object.hasOwn(allowed, name))
  if (added.length === 0) return
  manifest['allowScripts'] = { ...allowed, ...Object.fromEntries(added.map((name) => [name, true])) }
  replaceFile(file, `${JSON.stringify(manifest, null, 2)}\n`)
}
