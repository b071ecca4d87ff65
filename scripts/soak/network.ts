import { execFileSync } from 'node:child_process'
import { type NetworkFaults, startProxy } from './cutting-proxy.ts'
import { startToxiproxy } from './toxiproxy.ts'

/** Starts Toxiproxy in front of a port if it is installed (`TOXIPROXY_SERVER`, or on PATH), else the soak's own proxy. */
export async function startNetwork(target: number): Promise<NetworkFaults & { readonly title: string }> {
  const program = findToxiproxy()
  if (program === undefined) return { ...(await startProxy(target)), title: 'own proxy' }
  return { ...(await startToxiproxy(program, target)), title: 'Toxiproxy' }
}

function findToxiproxy(): string | undefined {
  const given = process.env['TOXIPROXY_SERVER']
  if (given) return given
  try {
    return execFileSync('which', ['toxiproxy-server'], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}
