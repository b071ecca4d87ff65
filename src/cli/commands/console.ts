import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import type { InspectedScope, Inspection } from '../../app/app.ts'
import type { User } from '../../contracts/user.ts'
import { isHttpError } from '../../errors/http-error.ts'
import { StartupError } from '../../errors/startup-error.ts'
import { didYouMean } from '../../support/nearest.ts'
import { type Command, type CommandInput, textOf, UsageError } from '../command.ts'
import { assembleProject } from '../project/inspect-project.ts'
import { findProject, PROJECT_OPTIONS } from '../project/project.ts'
import { withBricks } from '../project/with-bricks.ts'

/** Opens the services of the application at a prompt, or runs one piece of code with them. */
export const openConsole: Command = {
  name: 'console',
  summary: 'Open a prompt with the services of the application, which serves nothing',
  usage: 'console [--write] [--eval CODE] [--json]',
  options: {
    app: PROJECT_OPTIONS.app,
    write: { type: 'boolean', help: 'allow writes in production' },
    eval: { type: 'string', help: 'run an expression, or statements with return, instead of a prompt' },
    json: { type: 'boolean', help: 'print the value of the code as JSON' },
  },
  async run(input) {
    const code = textOf(input, 'eval') ?? (process.stdin.isTTY ? undefined : await text(process.stdin))
    if (input.values['json'] === true && code === undefined) throw new UsageError('--json needs --eval CODE.')
    const evaluate = code === undefined ? undefined : compile(code)
    const inspection = await assembleProject(findProject(input))
    const refuseWrites = inspection.options.environment === 'production' && input.values['write'] !== true
    await withBricks(inspection, { refuseWrites }, async () => {
      const room = openRoom(inspection)
      try {
        if (evaluate !== undefined)
          return print(await evaluate(room).catch((error: unknown) => explain(error, room)), input)
        if (refuseWrites) input.terminal.note(describeGuard(inspection))
        await prompt(room, promptOf(inspection, refuseWrites))
      } finally {
        await room.dispose()
      }
    })
    return 0
  },
}

/** The names at the prompt, and the release of what they have made. */
interface Room extends Pick<InspectedScope, 'dispose'> {
  readonly names: PropertyDescriptorMap
}

/** `services` has every service; most of them have a name of their own, which is made when it is read. */
function openRoom({ openScope, serviceNames }: Inspection): Room {
  const scopes: InspectedScope[] = []
  const as = (user: User | null): InspectedScope['services'] => {
    const scope = openScope(user)
    scopes.push(scope)
    return scope.services
  }
  const services = as(null)
  // A service `crypto` must not replace what libraries use.
  const free = serviceNames.filter((name) => !(name in globalThis) && name !== 'services' && name !== 'as')
  const getters = free.map((name) => [name, { configurable: true, get: () => services[name] }])
  return {
    names: {
      ...(Object.fromEntries(getters) as PropertyDescriptorMap),
      services: { configurable: true, value: services },
      as: { configurable: true, value: as },
    },
    async dispose() {
      for (const { dispose } of scopes) await dispose()
    },
  }
}

type Evaluate = (room: Room) => Promise<unknown>

/** Compiles before anything starts. The code is asynchronous: `await` works. @throws UsageError for a syntax error. */
function compile(code: string): Evaluate {
  const run = compileExpression(code) ?? compileStatements(code)
  return ({ names }) => {
    Object.defineProperties(globalThis, names)
    return run()
  }
}

const AsyncFunction = (async () => {}).constructor as new (body: string) => () => Promise<unknown>

function compileExpression(code: string): (() => Promise<unknown>) | undefined {
  try {
    return new AsyncFunction(`return (${code}\n)`)
  } catch {
    return undefined
  }
}

function compileStatements(code: string): () => Promise<unknown> {
  try {
    return new AsyncFunction(code)
  } catch (error) {
    throw new UsageError(`The code is not JavaScript: ${(error as Error).message}.`)
  }
}

/** Stacks of errors about a name in the code itself, not in a file or a service of the application. */
const UNKNOWN = [
  /^ReferenceError: (\S+) is not defined\n\s+at eval /,
  /^AwilixResolutionError: Could not resolve '(.+)'\.\s+Resolution path: \1\n/,
]

/** @throws the error of the code, with a remedy if its services need a user, or if no service has a name in it. */
function explain(error: unknown, { names }: Room): never {
  const fail = (found: string, remedy: string): never => {
    throw new StartupError(found, { code: 'MORTAR_CLI_CONSOLE', remedy, cause: error })
  }
  if (isHttpError(error) && error.status === 401)
    fail(
      error.message,
      "Act as a user of the application: as({ id: 'ID' }) returns the services of that user.",
    )
  const name = UNKNOWN.map((pattern) => pattern.exec((error as Error)?.stack ?? '')?.[1]).find(Boolean)
  if (name !== undefined) {
    const known = Object.keys(names)
    const remedy = didYouMean(name, known, `The services are ${known.join(', ')}.`)
    fail(`${name} is not defined, and no service has this name.`, remedy)
  }
  throw error
}

function print(value: unknown, { terminal, values }: CommandInput): void {
  if (values['json'] === true) terminal.print(JSON.stringify(value ?? null, withBigInts, 2))
  else if (typeof value === 'string') terminal.print(value)
  else if (value !== undefined) terminal.print(inspect(value, { depth: 5, maxArrayLength: null }))
}

function withBigInts(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

/** Global names, because an object of another context is no `Date` or `Array` to a driver. */
async function prompt({ names }: Room, line: string): Promise<void> {
  if ('bun' in process.versions || 'deno' in process.versions)
    throw new StartupError('The prompt of mortar console needs Node.', {
      code: 'MORTAR_CLI_CONSOLE',
      remedy: "Write the code in --eval '…', or run the command with Node.",
    })
  const { start } = await import('node:repl')
  const server = start({ prompt: line, useGlobal: true, ignoreUndefined: true, breakEvalOnSigint: true })
  // Node's prompt has the built-in module `events`, and the service is more useful here.
  Object.defineProperties(globalThis, names)
  await once(server, 'exit')
}

function promptOf({ options: { environment } }: Inspection, refuseWrites: boolean): string {
  const mode = environment !== 'production' ? '' : refuseWrites ? ' read-only' : ' WRITES'
  return `${environment}${mode}> `
}

function describeGuard({ bricks }: Inspection): string {
  const names = bricks.filter(({ refuseWrites }) => refuseWrites !== undefined).map(({ name }) => name)
  const refusing =
    names.length === 0 ? 'No brick refuses writes' : `Writes are refused by: ${names.join(', ')}`
  return `${refusing}. Mails, HTTP requests and other services act as usual. --write allows all.`
}
