import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { create } from '../../src/cli/commands/new.ts'
import { createTerminal } from '../../src/cli/terminal.ts'

/** Contents of files by their paths, with slashes. */
export type Files = Readonly<Record<string, string>>

const made = new Map<string, Promise<Files>>()

/** Returns the files that `mortar new my-app` writes with these options. They are written once for a process. */
export function newApplication(options: Readonly<Record<string, string>> = {}): Promise<Files> {
  const key = JSON.stringify(options)
  const files = made.get(key) ?? writeNewApplication(options)
  made.set(key, files)
  return files
}

async function writeNewApplication(options: Readonly<Record<string, string>>): Promise<Files> {
  const directory = mkdtempSync(join(tmpdir(), 'mortar-guides-'))
  try {
    // In this process, because another one would load the sources of the command line for two seconds.
    const terminal = { ...createTerminal(), print: () => undefined, note: () => undefined }
    const values = { ...options, 'no-install': true, 'no-git': true }
    await create.run({ positionals: ['my-app'], values, terminal, directory })
    return readFiles(join(directory, 'my-app'))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function readFiles(folder: string): Files {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(paths.map((path) => [relative(folder, path), readFileSync(path, 'utf8')]))
}
