import type { BenchOptions } from './options.ts'
import { disagreements } from './agree.ts'
import type { Load, LoadResult } from './load/load.ts'
import { serversOf } from './peers.ts'
import type { Round, Series } from './series.ts'
import { startServer, type Server } from './servers.ts'
import type { WireRequest, Workload } from './workloads/workload.ts'

/**
 * Measures a workload on every server, in turns, so that what changes on the machine changes for all; and on several
 * processes of each, one after another, because two processes of the same program differ by some percent.
 */
export async function measureWorkload(
  workload: Workload,
  options: BenchOptions,
  load: Load,
): Promise<Series[]> {
  const { env, tearDown } = (await workload.setUp?.()) ?? {}
  try {
    return await measureSeries({ ...workload, ...(env === undefined ? {} : { env }) }, options, load)
  } finally {
    await tearDown?.()
  }
}

async function measureSeries(workload: PlacedWorkload, options: BenchOptions, load: Load): Promise<Series[]> {
  const series = await measureProcesses(workload, options, load)
  for (let more = 1; more < options.processes; more++)
    for (const [index, { rounds, rss }] of (await measureProcesses(workload, options, load)).entries()) {
      series[index]!.rounds.push(...rounds)
      series[index]!.rss = Math.max(series[index]!.rss, rss)
    }
  return series
}

/** A workload whose database is available. */
interface PlacedWorkload extends Workload {
  readonly env?: Readonly<Record<string, string>>
}

async function measureProcesses(
  workload: PlacedWorkload,
  options: BenchOptions,
  load: Load,
): Promise<Series[]> {
  const servers = await startServers(workload, options)
  try {
    const wrong = (await Promise.all(servers.map((server) => disagreements(server, workload)))).flat()
    if (wrong.length > 0) throw new Error(`Not all servers do the same work:\n  ${wrong.join('\n  ')}`)
    const same = servers.some(({ tokens }) => tokens.length > 0) ? undefined : workload.requests([])
    const turns = servers.map((server): Turn => ({
      server,
      requests: same ?? workload.requests(server.tokens),
      workload,
      options,
      load,
    }))
    for (const turn of turns) await put(turn, options.warmUp)
    const series = servers.map(({ name, startMs }): Series => ({ server: name, rounds: [], startMs, rss: 0 }))
    for (let round = 0; round < options.rounds; round++)
      for (const index of turnsOf(round, servers.length))
        series[index]!.rounds.push(await measureRound(turns[index]!))
    for (const [index, server] of servers.entries()) series[index]!.rss = (await server.usage()).rss
    return series
  } finally {
    load.forget()
    await Promise.all(servers.map((server) => server.stop()))
  }
}

async function startServers(workload: PlacedWorkload, options: BenchOptions): Promise<Server[]> {
  const servers: Server[] = []
  try {
    for (const spec of serversOf(workload, options))
      servers.push(
        await startServer({ ...spec, ...(workload.env === undefined ? {} : { env: workload.env }) }),
      )
    return servers
  } catch (error) {
    await Promise.all(servers.map((server) => server.stop()))
    throw error
  }
}

/** Every other round backwards, so that no server always follows the same one. */
function turnsOf(round: number, count: number): number[] {
  const turns = Array.from({ length: count }, (_, index) => (index + Math.floor(round / 2)) % count)
  return round % 2 === 0 ? turns : turns.toReversed()
}

interface Turn {
  readonly server: Server
  readonly requests: readonly WireRequest[]
  readonly workload: Workload
  readonly options: BenchOptions
  readonly load: Load
}

async function measureRound(turn: Turn): Promise<Round> {
  const before = await turn.server.usage()
  const result = await put(turn, turn.options.seconds)
  const after = await turn.server.usage()
  return {
    cpu: (after.cpu - before.cpu) / result.responses,
    perSecond: result.responses / result.seconds,
    p99: result.p99,
    clientBusy: result.busy,
  }
}

/** @throws Error when a response has another status than the valid request gets. */
async function put(
  { server, requests, workload, options, load }: Turn,
  seconds: number,
): Promise<LoadResult> {
  const { connections, pipelining } = options
  const { status = 200 } = workload
  const result = await load.measure({ port: server.port, requests, status, connections, pipelining, seconds })
  if (result.errors > 0 || result.responses === 0)
    throw new Error(
      `${server.name}: ${result.errors} of ${result.responses} responses are wrong. ${result.failure ?? ''}`,
    )
  return result
}
