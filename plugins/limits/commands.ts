import { isIP } from 'node:net'
import type { BrickCommand, BrickCommandInput, DeclaredLimit, KnownClient, Limit, Limiter } from 'mortar'
import { inColumns, inTime, parseLimit, printable, storedKey, type Counted } from 'mortar/kit'
import type { SharedStore } from './shared-store.ts'
import { fault } from './startup-codes.ts'

/** Milliseconds in which the store has to respond to a command. */
const PATIENCE = 5000

/** Knowledge of the brick about its service `limiter`. */
export interface Known {
  readonly declared: ReadonlyMap<string, DeclaredLimit>
  /** Undefined if the limits are counted in the memory of each process. */
  readonly store: SharedStore | undefined
}

const CLIENT = {
  ip: { type: 'string', help: 'the address of the client' },
  user: { type: 'string', help: 'the id of the user' },
  key: {
    type: 'string',
    help: 'the address of a user, a session, or the string that a function of `by` returns',
  },
  name: { type: 'string', help: 'only the limit of this name; without a client, show lists the names' },
  limit: { type: 'string', help: 'with --window and --key: a key that the application counts itself' },
  window: { type: 'string', help: 'the window of --limit, such as 1d' },
} as const
const USAGE = '[--ip ADDRESS] [--user ID] [--key TEXT] [--name NAME]'

/** The commands `mortar limits …`. @param knownOf what the brick knows of a limiter. */
export function limitCommands(knownOf: (limiter: Limiter) => Known): Readonly<Record<string, BrickCommand>> {
  const common = { usage: USAGE, options: CLIENT, needs: ['database', 'redis'], needsRoutes: true }
  return {
    show: {
      ...common,
      summary: 'list the limits, or the counts of one client',
      async run(input, { limiter }) {
        const known = knownOf(limiter as Limiter)
        const client = clientOf(input)
        if (Object.keys(client).length === 0) return listLimits(wanted(input, known))
        const counts = await Promise.all(countersOf(input, client, known).map((each) => read(known, each)))
        const text = counts.length === 0 ? NOTHING : inColumns(counts.map(rowOf))
        return { json: { limits: counts }, text }
      },
    },
    clear: {
      ...common,
      summary: 'reset the counts of one client',
      async run(input, { limiter }) {
        const known = knownOf(limiter as Limiter)
        const client = clientOf(input)
        if (Object.keys(client).length === 0) throw new RangeError('Name a client: --ip, --user or --key.')
        const cleared: string[] = []
        for (const counter of countersOf(input, client, known)) {
          const { used } = await read(known, counter)
          if (used === 0) continue
          await answered(storeOf(known).clear(counter.stored))
          cleared.push(counter.name)
        }
        const text = cleared.length === 0 ? NOTHING : `Reset: ${cleared.map(printable).join(', ')}.`
        return { json: { cleared }, text }
      },
    },
  }
}

const NOTHING = 'No limit counts this client.'

function clientOf({ values, positionals }: BrickCommandInput): KnownClient {
  if (positionals.length > 0)
    throw new RangeError('This command accepts no names. Use --ip, --user or --key.')
  const given = (['ip', 'user', 'key'] as const).filter((name) => values[name] !== undefined)
  if (values['ip'] !== undefined && isIP(String(values['ip'])) === 0)
    throw new RangeError(`--ip is '${String(values['ip'])}', which is not an address.`)
  return Object.fromEntries(given.map((name) => [name, String(values[name])]))
}

/** The limits of --name, else all of them. */
function wanted({ values }: BrickCommandInput, { declared }: Known): readonly DeclaredLimit[] {
  const { name } = values
  if (name === undefined) return [...declared.values()]
  const found = declared.get(String(name))
  if (found !== undefined) return [found]
  throw new RangeError(`--name is '${String(name)}', which is not a limit. List them: npx mortar limits show`)
}

interface Counter {
  readonly name: string
  readonly limit: Limit
  readonly stored: string
}

/** The counters of a client: those of its limits, or the one that --limit and --window describe. */
function countersOf(input: BrickCommandInput, client: KnownClient, known: Known): readonly Counter[] {
  const { limit, window } = input.values
  if (limit !== undefined || window !== undefined) {
    const own = { limit: Number(limit), window: String(window) }
    if (client.key === undefined) throw new RangeError('--limit and --window need --key.')
    return [{ name: client.key, limit: own, stored: storedKey(client.key, parsed(own)) }]
  }
  return wanted(input, known).flatMap((each) => {
    const key = each.keyOf(client)
    if (key === undefined) return []
    return [{ name: each.name, limit: each.limit, stored: storedKey(key, parseLimit(each.limit)) }]
  })
}

function parsed(limit: Limit): ReturnType<typeof parseLimit> {
  try {
    return parseLimit(limit)
  } catch (error) {
    throw new RangeError(`--limit ${limit.limit} --window ${limit.window} ${(error as Error).message}`)
  }
}

interface Shown {
  readonly name: string
  readonly limit: number
  /** Seconds. */
  readonly window: number
  readonly used: number
  /** Seconds until the count begins again; 0 for none. */
  readonly resetIn: number
}

async function read(known: Known, { name, limit, stored }: Counter): Promise<Shown> {
  const { consumed = 0, resetIn = 0 }: Partial<Counted> = (await answered(storeOf(known).read(stored))) ?? {}
  return { name, ...parseLimit(limit), used: consumed, resetIn: Math.ceil(resetIn / 1000) }
}

function storeOf({ store }: Known): SharedStore {
  if (store !== undefined) return store
  throw fault('MORTAR_LIMITS_PROCESSES', 'Each process counts in its memory, which no command can read.')
}

/** @throws StartupError `MORTAR_LIMITS_STORE` for a store that fails or is silent. */
async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await inTime(work, PATIENCE, () => new Error(`No response within ${PATIENCE / 1000} s.`))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw fault('MORTAR_LIMITS_STORE', `The store of the limits does not respond: ${reason}`, { cause })
  }
}

function rowOf({ name, limit, window, used, resetIn }: Shown): string[] {
  const state = used >= limit ? 'exhausted' : ''
  return [
    printable(name),
    `${used} of ${limit}`,
    `in ${window} s`,
    used > 0 ? `reset in ${resetIn} s` : '',
    state,
  ]
}

function listLimits(limits: readonly DeclaredLimit[]): { json: unknown; text: string } {
  const all = limits.map(({ name, limit, by }) => ({ name, by, ...parseLimit(limit) }))
  const rows = all.map(({ name, by, limit, window }) => [
    printable(name),
    `by ${by}`,
    `${limit} in ${window} s`,
  ])
  return {
    json: { limits: all },
    text: all.length === 0 ? 'The application has no limits.' : inColumns(rows),
  }
}
