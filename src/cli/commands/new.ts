import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StartupError } from '../../errors/startup-error.ts'
import { ignore } from '../../support/ignore.ts'
import { makeFolder } from '../../support/make-folder.ts'
import type { Command, CommandOptions } from '../command.ts'
import { type Choices, PARTS, readChoices } from '../new/choices.ts'
import { type ProjectFile, projectFiles } from '../new/project-files.ts'
import { runInstallation } from '../add/install.ts'
import { wordsOf } from '../new/manager.ts'
import { shown } from '../project/project.ts'

/** Entries that a folder may have and still count as empty: those of a new clone. */
const IGNORED = new Set(['.git', '.DS_Store'])

/** `--no-lint` and so on. */
const WITHOUT = Object.fromEntries(
  Object.entries(PARTS).map(([name, help]) => [`no-${name}`, { type: 'boolean', help }] as const),
) satisfies CommandOptions

/** Makes a new application that runs without further changes. All of its files come from this package. */
export const create: Command = {
  name: 'new',
  summary: 'Make a new application: routes, configuration, tables, a test',
  usage:
    'new NAME [--database sqlite|postgres|mysql|none] [--auth basic|none] [--auth-features] [--package-manager NAME] [--no-…]',
  names: true,
  options: {
    database: { type: 'string', help: 'sqlite (the default), postgres, mysql or none' },
    auth: { type: 'string', help: 'basic (e-mail and password, the default) or none' },
    'auth-features': {
      type: 'boolean',
      help: 'proven addresses, own sessions, a fresh sign-in and a second factor',
    },
    'package-manager': {
      type: 'string',
      help: 'npm, pnpm, yarn or bun; by default the one that runs this command',
    },
    ...WITHOUT,
    mortar: {
      type: 'string',
      help: 'version of the packages of Mortar, or the folder of their tarballs, from the application: file:../packages',
    },
  },
  async run(input) {
    const choices = readChoices(input)
    refuseFullFolder(choices.folder)
    const files = await projectFiles(choices, randomBytes(32).toString('base64url'))
    write(choices.folder, files)
    const { note, print } = input.terminal
    const place = shown(choices.folder, input.directory)
    note(`Created ${choices.name} with ${files.length} files${place === '.' ? '' : ` in ${place}`}.`)
    if (choices.parts.has('git')) initializeGit(choices.folder)
    if (choices.parts.has('install')) await runInstallation([choices.manager, 'install'], choices.folder)
    print(nextSteps(choices, place))
    return 0
  },
}

/** @throws StartupError `MORTAR_CLI_FOLDER` for a folder with files, because those could be overwritten. */
function refuseFullFolder(folder: string): void {
  if (!existsSync(folder)) return
  const isFolder = statSync(folder).isDirectory()
  if (isFolder && readdirSync(folder).every((name) => IGNORED.has(name))) return
  const state = isFolder ? 'not empty' : 'a file'
  throw new StartupError(`${folder} is ${state}, and mortar new overwrites nothing.`, {
    code: 'MORTAR_CLI_FOLDER',
    remedy: 'Choose another name, or move the files away first.',
    files: [folder],
  })
}

/**
 * Writes all files or none; only its owner may read `.env`, which contains the secret.
 * @throws StartupError `MORTAR_CLI_FOLDER` for a folder that cannot be made or written: a missing permission, a full disk.
 */
function write(folder: string, files: readonly ProjectFile[]): void {
  // Ctrl+C does not leave some of them.
  process.on('SIGINT', ignore)
  try {
    for (const { path, content } of files) {
      makeFolder(dirname(join(folder, path)))
      writeFileSync(join(folder, path), content, { flag: 'wx', mode: path === '.env' ? 0o600 : 0o666 })
    }
  } catch (cause) {
    // The folder was empty.
    for (const { path } of existsSync(folder) ? files : [])
      rmSync(join(folder, path.split('/')[0]!), { recursive: true, force: true })
    const { code } = cause as NodeJS.ErrnoException
    throw new StartupError(`${folder} cannot be written${code === undefined ? '' : ` (${code})`}.`, {
      code: 'MORTAR_CLI_FOLDER',
      remedy: 'Choose another place, or the rights to write there.',
      files: [folder],
      cause,
    })
  } finally {
    process.off('SIGINT', ignore)
  }
}

/** Makes a repository, unless the folder is in one already or Git is missing. The first commit is left to you. */
function initializeGit(folder: string): void {
  const options = { cwd: folder, stdio: 'ignore' } as const
  const isInside = spawnSync('git', ['rev-parse', '--is-inside-work-tree'], options).status === 0
  if (!isInside) spawnSync('git', ['init', '--quiet', '--initial-branch=main'], options)
}

function nextSteps({ database, auth, parts, manager }: Choices, place: string): string {
  const { install, run } = wordsOf(manager)
  const steps = [
    ...(place === '.' ? [] : [`cd ${place}`]),
    ...(parts.has('install') ? [] : [install]),
    ...(database === 'postgres' || database === 'mysql'
      ? ['# put the address of your database into .env']
      : []),
    `${run} dev`,
  ]
  const pages = auth === 'basic' ? 'sign-up, documentation and a mail page' : 'the documentation'
  return `Next:\n${steps.map((step) => `  ${step}`).join('\n')}\nThen open http://localhost:3000/docs: ${pages}.`
}
