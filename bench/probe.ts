import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Response times in milliseconds. */
export interface Probe {
  readonly p50: number
  readonly p99: number
}

/** Requests a path every few milliseconds for some time, one request after another, and records each duration. */
export async function probe(
  port: number,
  path: string,
  { seconds, every }: { seconds: number; every: number },
): Promise<Probe> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    times.push(await timeOf(port, path, agent))
    await sleep(every)
  }
  agent.destroy()
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
  return { p50: at(0.5), p99: at(0.99) }
}

function timeOf(port: number, path: string, agent: Agent): Promise<number> {
  const begin = performance.now()
  return new Promise((resolve, reject) => {
    get({ port, path, agent, host: '127.0.0.1' }, (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - begin)
        else reject(new Error(`${path} answered ${response.statusCode}.`))
      })
    }).once('error', reject)
  })
}
