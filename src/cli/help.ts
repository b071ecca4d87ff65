import type { Command } from './command.ts'
import { BRICKS_WITH_COMMANDS } from './commands/command-table.ts'
import { inColumns } from '../support/columns.ts'

/** Renders the output of `mortar --help`. */
export function overview(commands: readonly Command[]): string {
  const lines = inColumns(commands.map(({ name, summary }) => [`  ${name}`, summary]))
  const bricks = BRICKS_WITH_COMMANDS.map((brick) => `mortar ${brick}`).join(', ')
  return `Usage: mortar <command> [options]

${lines}

Bricks add commands to an application that has them: ${bricks}.

  npx mortar help <command> describes a command, npx mortar --version prints the version.
  npx mortar help limits lists the commands of the brick limits.`
}

/** Renders the output of `mortar help <command>`. */
export function commandHelp({ usage, summary, options }: Command): string {
  const rows = Object.entries(options).map(([name, { type, short, help }]) => [
    `  ${short === undefined ? '' : `-${short}, `}--${name}${type === 'string' ? ' VALUE' : ''}`,
    help,
  ])
  return `Usage: mortar ${usage}\n\n${summary}.\n\n${inColumns([...rows, ['  -h, --help', 'show this help']])}`
}
