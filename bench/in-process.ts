/**
 * Measures a request without a network, for a machine that is too busy for `npm run bench`: the least of many short
 * blocks, a process for each server, in turns. `node --import tsx bench/in-process.ts --workloads b --peers fastify`
 * takes the options of `npm run bench`.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readOptions } from './options.ts'
import { serversOf } from './peers.ts'
import { WORKLOADS } from './workloads/all.ts'
import type { Workload } from './workloads/workload.ts'
import { someOf } from './load/load.ts'

const options = readOptions(process.argv.slice(2))

for (const workload of WORKLOADS.filter(({ id }) => options.workloads.includes(id))) {
  // This process has no databases and no log files, unlike `npm run bench`.
  if (workload.setUp !== undefined || workload.logFields !== undefined) continue
  const least = new Map<string, number>()
  for (let round = 0; round < options.rounds; round++)
    for (const { name, peer, dist } of serversOf(workload, options)) {
      const blocks = await blocksOf(workload, peer, dist)
      least.set(name, Math.min(least.get(name) ?? Number.POSITIVE_INFINITY, ...blocks))
    }
  print(workload, least)
}

async function blocksOf({ app, size, requests }: Workload, peer: string, dist?: string): Promise<number[]> {
  const env = { ...process.env, NODE_ENV: 'production', ...(dist === undefined ? {} : { MORTAR_DIST: dist }) }
  const script = `${import.meta.dirname}/work/in-process.js`
  const child = fork(script, [peer, app, String(size)], { env, execArgv: [], serialization: 'advanced' })
  try {
    const [{ tokens }] = (await once(child, 'message')) as [{ tokens: string[] }]
    child.send({ requests: someOf(requests(tokens)), seconds: options.seconds })
    const [blocks] = (await once(child, 'message')) as [number[]]
    return blocks
  } finally {
    child.kill('SIGKILL')
  }
}

function print({ id, title }: Workload, least: ReadonlyMap<string, number>): void {
  console.log(
    `\n### ${id}: ${title}, in memory\n\n| server | µs/request, least | more than raw |\n| --- | ---: | ---: |`,
  )
  const raw = least.get('raw')!
  for (const [name, ns] of [...least].toSorted((a, b) => a[1] - b[1]))
    console.log(`| ${name} | ${(ns / 1000).toFixed(2)} | ${((ns - raw) / 1000).toFixed(2)} |`)
}
