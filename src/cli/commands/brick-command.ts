import { parseArgs } from 'node:util'
import type { BrickCommand } from '../../contracts/brick-command.ts'
import { didYouMean } from '../../support/nearest.ts'
import { type Command, type CommandInput, UsageError } from '../command.ts'
import { type AssembledProject, assembleProject } from '../project/inspect-project.ts'
import { BRICKS_WITH_COMMANDS } from './command-table.ts'
import { findProject, findRoot, PROJECT_OPTIONS, readManifest } from '../project/project.ts'
import { withBricks } from '../project/with-bricks.ts'

/** A command line that belongs to a brick: the command and its own arguments. */
export interface BrickCommandLine {
  readonly command: Command
  readonly args: readonly string[]
}

/**
 * Finds the command of a brick of the application in this folder: `mortar auth users`.
 * @returns undefined for a name that no brick has, and for a brick without commands.
 * @throws StartupError if the application cannot be assembled, or is missing for one of `BRICKS_WITH_COMMANDS`; UsageError for an
 * unknown command of the brick, and if the application lacks one of `BRICKS_WITH_COMMANDS`.
 */
export async function findBrickCommand(
  name: string,
  args: readonly string[],
  directory: string,
): Promise<BrickCommandLine | undefined> {
  const { values } = parseArgs({ args: [...args], strict: false, options: { app: { type: 'string' } } })
  const isKnown = BRICKS_WITH_COMMANDS.includes(name)
  if (!isKnown && !hasApplication(directory, values)) return undefined
  const inspection = await assembleProject(findProject({ values, directory }))
  const brick = inspection.bricks.find((each) => each.name === name)
  if (isKnown && brick === undefined)
    throw new UsageError(`This application has no brick '${name}'. Add it: npx mortar add ${name}`)
  const commands = brick?.commands
  if (commands === undefined) return undefined
  const [step, ...rest] = args
  if (step === undefined || step.startsWith('-')) return { command: listOf(name, commands), args }
  if (!Object.hasOwn(commands, step)) throw unknownStep(name, step, Object.keys(commands))
  return { command: commandOf(inspection, { brick: name, step }, commands[step]!), args: rest }
}

function hasApplication(directory: string, values: CommandInput['values']): boolean {
  if (values['app'] !== undefined) return true
  try {
    findProject({ values, directory })
    return true
  } catch {
    // A package.json that names a missing application is reported by the commands that need it.
    return Object.hasOwn(readManifest(findRoot(directory)), 'mortar')
  }
}

function commandOf(
  inspection: AssembledProject,
  { brick, step }: { readonly brick: string; readonly step: string },
  { summary, usage, options = {}, needs = [], needsRoutes = false, run }: BrickCommand,
): Command {
  return {
    name: `${brick} ${step}`,
    summary,
    usage: `${brick} ${step} ${usage} [--json]`.replaceAll('  ', ' '),
    names: true,
    options: { app: PROJECT_OPTIONS.app, ...options, json: { type: 'boolean', help: 'print JSON' } },
    async run({ values, positionals, terminal }) {
      if (needsRoutes) await inspection.loadRoutes()
      const { json, text } = await withBricks(inspection, { names: [...needs, brick] }, (services) =>
        asUsage(() => run({ values, positionals }, services)),
      )
      terminal.print(values['json'] === true ? JSON.stringify(json, null, 2) : text)
      return 0
    },
  }
}

async function asUsage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error
  }
}

function listOf(brick: string, commands: Readonly<Record<string, BrickCommand>>): Command {
  const lines = Object.entries(commands).map(([step, { usage }]) => `${brick} ${step} ${usage}`.trimEnd())
  return {
    name: brick,
    summary: Object.entries(commands)
      .map(([step, { summary }]) => `${step}: ${summary}`)
      .join('\n'),
    usage: lines.join('\n       mortar '),
    names: true,
    options: { app: PROJECT_OPTIONS.app },
    run: async () => {
      throw new UsageError(`Name a command of '${brick}': ${Object.keys(commands).join(', ')}.`)
    },
  }
}

function unknownStep(brick: string, step: string, known: readonly string[]): UsageError {
  const hint = didYouMean(step, known, `They are ${known.join(', ')}.`)
  return new UsageError(`'${step}' is not a command of '${brick}'. ${hint}`)
}
