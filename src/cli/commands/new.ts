import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartupError } from '../../errors/startup-error.ts'
import type { Command } from '../command.ts'
import { type Choices, readChoices } from '../new/choices.ts'
import { type ProjectFile, projectFiles } from '../new/project-files.ts'
import { shown } from '../project/project.ts'

/** Entries that a folder may have and still count as empty: those of a new clone. */
const IGNORED = new Set(['.git', '.DS_Store'])

/** Makes a new application that runs without further changes. All of its files come from this package. */
export const create: Command = {
  name: 'new',
  summary: 'Make a new application: routes, configuration, tables, a test',
  usage: 'new NAME [--database sqlite|postgres|none] [--auth basic|none] [--no-install]',
  options: {
    database: { type: 'string', help: 'sqlite (the default), postgres or none' },
    auth: { type: 'string', help: 'basic (e-mail and password, the default) or none' },
    install: { type: 'boolean', help: 'run npm install in it (the default)' },
    'no-install': { type: 'boolean', help: 'only write the files' },
    mortar: { type: 'string', help: 'version or location of the framework for npm, such as file:mortar.tgz' },
  },
  async run(input) {
    const choices = readChoices(input)
    refuseFullFolder(choices.folder)
    const files = await projectFiles(choices, randomBytes(32).toString('base64url'))
    await write(choices.folder, files)
    const { note, print } = input.terminal
    const place = shown(choices.folder, input.directory)
    note(`Made ${choices.name}: ${files.length} files in ${place}.`)
    if (choices.install) await installPackages(choices.folder)
    print(nextSteps(choices, place))
    return 0
  },
}

/** @throws StartupError `MORTAR_CLI_FOLDER` for a folder with files, because those could be overwritten. */
function refuseFullFolder(folder: string): void {
  if (!existsSync(folder)) return
  const isFolder = statSync(folder).isDirectory()
  if (isFolder && readdirSync(folder).every((name) => IGNORED.has(name))) return
  throw new StartupError(
    `${folder} is ${isFolder ? 'not empty' : 'a file'}, and mortar new overwrites nothing.`,
    {
      code: 'MORTAR_CLI_FOLDER',
      remedy: 'Choose another name, or move the files away first.',
      files: [folder],
    },
  )
}

/** Writes a file; only its owner may read `.env`, which contains the secret. */
async function write(folder: string, files: readonly ProjectFile[]): Promise<void> {
  for (const { path, content } of files) {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content, { flag: 'wx', mode: path === '.env' ? 0o600 : 0o666 })
  }
}

/**
 * Runs npm. Its output goes to standard error, because it is not the result of the command. On Windows npm is a script,
 * which needs a shell.
 */
async function installPackages(folder: string): Promise<void> {
  const code = await new Promise<number | null>((resolve, reject) => {
    const args = ['install', '--no-fund', '--no-audit']
    const child = spawn('npm', args, {
      cwd: folder,
      stdio: ['ignore', process.stderr, 'inherit'],
      shell: process.platform === 'win32',
    })
    child.once('error', reject)
    child.once('close', resolve)
  }).catch(() => null)
  if (code === 0) return
  throw new StartupError('The files are written, but npm could not install the packages.', {
    code: 'MORTAR_CLI_INSTALL',
    remedy: `Fix the error that npm reports above, then run npm install in ${folder}.`,
  })
}

function nextSteps({ database, auth, install }: Choices, place: string): string {
  const steps = [
    ...(place === '.' ? [] : [`cd ${place}`]),
    ...(install ? [] : ['npm install']),
    ...(database === 'postgres' ? ['# put the address of your database into .env'] : []),
    'npm run dev',
  ]
  const pages = auth === 'basic' ? 'sign-up, documentation and a mail page' : 'the documentation'
  return `Next:\n${steps.map((step) => `  ${step}`).join('\n')}\nThen open http://localhost:3000/docs: ${pages}.`
}
