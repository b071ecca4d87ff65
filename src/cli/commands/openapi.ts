import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { StartupError } from '../../errors/startup-error.ts'
import { type Command, textOf } from '../command.ts'
import { differences } from '../differences.ts'
import { inspectProject } from '../project/inspect-project.ts'
import { findProject, PROJECT_OPTIONS } from '../project/project.ts'

/** Prints the OpenAPI document that the application serves, or compares it with a file. */
export const openapi: Command = {
  name: 'openapi',
  summary: 'Print the OpenAPI or AsyncAPI document; --check FILE fails if FILE differs',
  usage: 'openapi [--async] [--check FILE]',
  options: {
    ...PROJECT_OPTIONS,
    async: { type: 'boolean', help: 'the AsyncAPI document of sockets and channels' },
    check: { type: 'string', help: 'compare with a file; exit code 1 when they differ' },
  },
  async run(input) {
    const { document, asyncDocument } = await inspectProject(findProject(input))
    const found = input.values['async'] === true ? ((await asyncDocument()) ?? {}) : document()
    // The form in which it is served, without values that JSON cannot express.
    const text = JSON.stringify(found, null, 2)
    const file = textOf(input, 'check')
    if (file === undefined) {
      input.terminal.print(text)
      return 0
    }
    return check(JSON.parse(text), await readDocument(resolve(input.directory, file), file), {
      file,
      note: input.terminal.note,
    })
  },
}

function check(
  present: unknown,
  committed: unknown,
  { file, note }: { readonly file: string; note(text: string): void },
): number {
  if (isDeepStrictEqual(present, committed)) {
    note(`${file} is up to date.`)
    return 0
  }
  const found = differences(committed, present)
  const rest = found.length > 10 ? [`  … and ${found.length - 10} more`] : []
  note(`${file} differs from the document that the application serves:`)
  for (const line of [...found.slice(0, 10).map((change) => `  ${change}`), ...rest]) note(line)
  note(`Write it again: npx mortar openapi > ${file}`)
  return 1
}

async function readDocument(path: string, name: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown
  } catch (cause) {
    throw new StartupError(`${name} cannot be read as an OpenAPI document: ${(cause as Error).message}`, {
      code: 'MORTAR_CLI_FILE',
      remedy: `Write it: npx mortar openapi > ${name}`,
      files: [path],
      cause,
    })
  }
}
