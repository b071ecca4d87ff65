import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { NetworkFaults } from './cutting-proxy.ts'
import { freePort } from './free-port.ts'

/** Starts Toxiproxy 2 with one proxy in front of `target`. `program` is the path of `toxiproxy-server`. */
export async function startToxiproxy(program: string, target: number): Promise<NetworkFaults> {
  const api = await freePort()
  const port = await freePort()
  const child = spawn(program, ['-host', '127.0.0.1', '-port', String(api)], { stdio: 'ignore' })
  const call = (method: string, path: string, body?: object): Promise<void> =>
    callApi(`http://127.0.0.1:${api}${path}`, method, body)
  const create = {
    name: 'engine',
    listen: `127.0.0.1:${port}`,
    upstream: `127.0.0.1:${target}`,
    enabled: true,
  }
  await retry(() => call('POST', '/proxies', create))
  const during = async (ms: number, toxics: readonly object[]): Promise<void> => {
    for (const toxic of toxics) await call('POST', '/proxies/engine/toxics', toxic)
    await wait(ms)
    await call('POST', '/reset')
  }
  return {
    port,
    cut: (ms) => during(ms, both('reset_peer')),
    silence: (ms) => during(ms, both('timeout')),
    slow: (ms, latency) => during(ms, both('latency', { latency })),
    async stop() {
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

function both(type: string, attributes: object = { timeout: 0 }): object[] {
  return ['upstream', 'downstream'].map((stream) => ({
    name: `${type}_${stream}`,
    type,
    stream,
    attributes,
  }))
}

async function callApi(url: string, method: string, body?: object): Promise<void> {
  const response = await fetch(url, { method, ...(body ? { body: JSON.stringify(body) } : {}) })
  if (!response.ok) throw new Error(`Toxiproxy: ${response.status} ${await response.text()}`)
  await response.arrayBuffer()
}

async function retry(run: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await run()
    } catch (error) {
      if (tries === 50) throw error
      await wait(100)
    }
}
