import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartupError } from '../../errors/startup-error.ts'
import { replaceFile } from '../replace-file.ts'

/**
 * Runs an installation. Its output goes to standard error, because it is not a result. On Windows package managers are
 * scripts, which need a shell.
 * @param next what to do after a failure; by default run the installation.
 * @throws StartupError `MORTAR_CLI_INSTALL` when it fails, or Ctrl+C ends it: then the exit code is 130.
 */
export async function runInstallation(
  [program = '', ...args]: readonly string[],
  folder: string,
  next = `run ${[program, ...args].join(' ')} in ${folder}`,
): Promise<void> {
  // A terminal sends it to the package manager, too.
  const interrupt = (): void => void (process.exitCode = 130)
  process.on('SIGINT', interrupt)
  const end = await new Promise<number | null | NodeJS.ErrnoException>((resolve) => {
    const child = spawn(program, program === 'npm' ? [...args, '--no-fund', '--no-audit'] : args, {
      cwd: folder,
      stdio: ['ignore', process.stderr, 'inherit'],
      shell: process.platform === 'win32',
    })
    child.once('error', resolve)
    child.once('close', resolve)
  })
  process.off('SIGINT', interrupt)
  if (end === 0) return
  const [found, remedy] =
    process.exitCode === 130
      ? ['was interrupted, so packages are missing', `To go on, ${next}.`]
      : end instanceof Error
        ? [`does not start (${end.code})`, `Check that ${program} is installed. Then ${next}.`]
        : ['could not install the packages', `Fix what ${program} reports above. Then ${next}.`]
  throw new StartupError(`${program} ${found}.`, { code: 'MORTAR_CLI_INSTALL', remedy })
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
