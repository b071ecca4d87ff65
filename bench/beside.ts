import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { buildWhenStale } from './build.ts'
import { pairedRatios, spreadOf } from './statistics.ts'

/** Bytes of heap after a collection, and microseconds of CPU since the start. */
export interface Usage {
  readonly heap: number
  readonly cpu: number
}

/** A server in a process of its own. */
export interface Server {
  readonly name: string
  readonly port: number
  /** Makes the server do what a client cannot ask for. */
  act(number: number): void
  usage(): Promise<Usage>
}

/** Measures a server once: the less the better. */
export type Measure = (server: Server) => Promise<number>

const FOLDER = join(import.meta.dirname, 'work/beside')
const PROCESSES = 2
const ROUNDS = 5

/**
 * Compares two servers of a file in `work/beside`, both from compiled packages and without a loader: prints each figure of
 * both, and the median of its ratios with their middle half. Both run while the rounds visit them in turns.
 */
export async function beside(
  file: string,
  names: readonly [string, string],
  figures: Readonly<Record<string, Measure>>,
): Promise<void> {
  buildWhenStale()
  const found: { readonly figure: string; readonly name: string; readonly value: number }[] = []
  for (let turn = 0; turn < PROCESSES; turn++) {
    const servers = [await start(file, names[0]), await start(file, names[1])]
    for (const [figure, measure] of Object.entries(figures))
      for (const server of inTurns(servers))
        found.push({ figure, name: server.name, value: await measure(server) })
    for (const { child } of servers) child.kill()
  }
  for (const figure of Object.keys(figures)) {
    const [own, other] = names.map((name) =>
      found.filter((each) => each.figure === figure && each.name === name).map(({ value }) => value),
    ) as [number[], number[]]
    const { median, q25, q75 } = pairedRatios(own, other)
    const shown = [own, other].map((values, index) => `${names[index]} ${spreadOf(values).median.toFixed(1)}`)
    console.log(
      `${figure}: ${shown.join(', ')}; ${median.toFixed(2)} × [${q25.toFixed(2)}–${q75.toFixed(2)}]`,
    )
  }
}

/** Returns the KiB of a server's heap for each of `count` open connections, and closes them. */
export async function heapOfEach<Connection>(
  server: Server,
  {
    count,
    open,
    close,
  }: {
    readonly count: number
    readonly open: () => Promise<Connection>
    readonly close: (connection: Connection) => void
  },
): Promise<number> {
  const before = await server.usage()
  const connections: Connection[] = []
  for (let index = 0; index < count; index++) connections.push(await open())
  await wait(500)
  const after = await server.usage()
  for (const connection of connections) close(connection)
  await wait(500)
  return (after.heap - before.heap) / count / 1024
}

function inTurns<T>(servers: readonly T[]): readonly T[] {
  return Array.from({ length: ROUNDS }, (_, round) =>
    round % 2 === 0 ? servers : servers.toReversed(),
  ).flat()
}

async function start(file: string, name: string): Promise<Server & { readonly child: ChildProcess }> {
  const env = { ...process.env, NODE_ENV: 'production' }
  const child = fork(join(FOLDER, 'serve.js'), [join(FOLDER, file), name], { execArgv: [], env })
  const message = async <T>(): Promise<T> => ((await once(child, 'message')) as [T])[0]
  return {
    child,
    name,
    port: await message<number>(),
    act: (number) => void child.send(number),
    usage: () => {
      child.send(-1)
      return message<Usage>()
    },
  }
}
