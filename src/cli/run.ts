import { parseArgs } from 'node:util'
import { StartupError } from '../errors/startup-error.ts'
import { errorCode } from '../support/database-fault.ts'
import { ignore } from '../support/ignore.ts'
import { didYouMean, nearest } from '../support/nearest.ts'
import { readableError } from '../support/readable-error.ts'
import { type Command, UsageError } from './command.ts'
import type { BrickCommandLine } from './commands/brick-command.ts'
import { BRICKS_WITH_COMMANDS, COMMANDS } from './commands/command-table.ts'
import { frameworkManifest } from './framework-manifest.ts'
import { commandHelp, overview } from './help.ts'
import { createTerminal, type Terminal } from './terminal.ts'
import { unwritable } from './unwritable.ts'

/** Runs a command line and ends the process with its exit code, unless the command goes on serving. */
export async function run(args: readonly string[], directory: string): Promise<void> {
  const terminal = createTerminal()
  const failure = watchOutput()
  const { code, serves } = await runCommand(args, directory, terminal)
  if (serves && code === 0) return
  // An application's module may have left a timer or a connection, which would keep the process.
  await flush(process.stdout)
  const lost = failure()
  if (lost !== undefined) terminal.note(`mortar: The result could not be written: ${lost.message}`)
  await flush(process.stderr)
  process.exit(lost === undefined ? code : code || 1)
}

/** Returns a function for the error of standard output. A reader may close it early: `mortar routes | head`. */
function watchOutput(): () => Error | undefined {
  let failure: Error | undefined
  process.stderr.on('error', ignore)
  process.stdout.on('error', (error) => {
    if (errorCode(error) !== 'EPIPE') failure = error
  })
  return () => failure
}

interface Outcome {
  readonly code: number
  readonly serves: boolean
}

async function runCommand(args: readonly string[], directory: string, terminal: Terminal): Promise<Outcome> {
  const [first, ...rest] = args
  try {
    if (first === undefined || first === '--help' || first === '-h' || first === 'help')
      return await help(rest, { terminal, asked: first, directory })
    if (first === '--version' || first === '-v') {
      terminal.print(frameworkManifest().version)
      return { code: 0, serves: false }
    }
    const { command, args: own } = await find(first, rest, directory)
    const { values, positionals } = parse(command, own)
    if (values['help'] === true) {
      terminal.print(commandHelp(command))
      return { code: 0, serves: false }
    }
    if (command.names !== true && positionals.length > 0)
      throw new UsageError(`${command.name} accepts no names. Usage: mortar ${command.usage}`)
    const code = await command.run({ values, positionals, terminal, directory })
    return { code, serves: command.serves === true }
  } catch (error) {
    return { code: report(error, terminal), serves: false }
  }
}

async function help(
  [name, ...rest]: readonly string[],
  { terminal, asked, directory }: { terminal: Terminal; asked: string | undefined; directory: string },
): Promise<Outcome> {
  if (name !== undefined && asked === 'help') {
    terminal.print(commandHelp((await find(name, rest, directory)).command))
    return { code: 0, serves: false }
  }
  const commands = await Promise.all(Object.values(COMMANDS).map((load) => load()))
  // Help that was not requested reports a usage error and is not a result.
  if (asked === undefined) terminal.note(overview(commands))
  else terminal.print(overview(commands))
  return { code: asked === undefined ? 2 : 0, serves: false }
}

/**
 * Finds a command by its only name, or that of a brick with its arguments; for `migrate:run`, a form of other tools, the
 * message suggests `migrate`.
 */
async function find(name: string, args: readonly string[], directory: string): Promise<BrickCommandLine> {
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (load) return { command: await load(), args }
  const guess = nearest(name, Object.keys(COMMANDS))
  // A mistyped command must not become an error of the application.
  if (guess === undefined && /^[a-z]/.test(name)) {
    const { findBrickCommand } = await import('./commands/brick-command.ts')
    const found = await findBrickCommand(name, args, directory)
    if (found !== undefined) return found
  }
  const ofBricks = BRICKS_WITH_COMMANDS.map((brick) => `mortar ${brick}`).join(', ')
  const list = `The commands are ${Object.keys(COMMANDS).join(', ')}, and those of bricks: ${ofBricks}.`
  throw new UsageError(
    `Unknown command '${name}'. ${guess === undefined ? list : `Did you mean '${guess}'?`}`,
  )
}

function parse(command: Command, args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    })
  } catch (error) {
    throw new UsageError(`${usageFault(error as Error, command)}\nSee: npx mortar help ${command.name}`)
  }
}

/** The first sentence of Node's message, as the others are about its own syntax, with the option that was meant. */
function usageFault({ message }: Error, command: Command): string {
  const [, option] = /^Unknown option '--?([^']+)'/.exec(message) ?? []
  if (option === undefined) return message
  const names = [...Object.keys(command.options), 'help'].map((name) => `--${name}`)
  const hint = didYouMean(`--${option}`, names, `The options are ${names.join(', ')}.`)
  return `Unknown option '--${option}' of mortar ${command.name}. ${hint}`
}

/** Prints an error, with the stack only for unexpected errors. Returns the exit code. */
function report(thrown: unknown, { note, paint }: Terminal): number {
  const error = unwritable(thrown) ?? thrown
  if (error instanceof UsageError) {
    note(`${paint.red('mortar:')} ${error.message}`)
    return 2
  }
  // An application may have another copy of the framework, so the class alone is not enough.
  const foreseen = error instanceof StartupError || (error as Partial<Error> | null)?.name === 'StartupError'
  // The message of a driver may contain a password; a remedy of the framework shows the line to write.
  const text = foreseen ? (error as Error).message : readableError(error, 'stack')
  note(`${paint.red('mortar:')} ${text}`)
  return Number(process.exitCode) || 1
}

function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve())
  })
}
