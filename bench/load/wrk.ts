import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pinnedCommand } from '../cores.ts'
import { someOf, type Load, type LoadResult, type LoadTask } from './load.ts'
import { wireOf } from './wire.js'

const run = promisify(execFile)

/** wrk with one thread; its rounds last whole seconds. @throws Error when wrk is not installed. */
export function createWrk(): Load {
  if (spawnSync('wrk', ['--version']).error) throw new Error('wrk is not installed; take --load own.')
  const folder = mkdtempSync(join(tmpdir(), 'mortar-bench-'))
  return {
    name: 'wrk',
    async measure(task) {
      const script = writeScript(folder, task)
      const seconds = Math.max(1, Math.round(task.seconds))
      const args = ['-t1', `-c${task.connections}`, `-d${seconds}s`, '--latency', '-s', script]
      const begin = performance.now()
      const { stdout } = await run(...pinnedCommand('wrk', [...args, `http://127.0.0.1:${task.port}`]))
      return readReport(stdout, (performance.now() - begin) / 1000)
    },
    forget: () => undefined,
    stop: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** A script of wrk that sends the requests in turn, so many together. */
function writeScript(folder: string, { requests: all, pipelining }: LoadTask): string {
  const requests = someOf(all)
  const groups = Math.max(1, Math.ceil(requests.length / pipelining))
  const texts = Array.from({ length: groups }, (_each, group) =>
    Array.from({ length: pipelining }, (_, each) =>
      wireOf(requests[(group * pipelining + each) % requests.length]!),
    ),
  )
  const data = join(folder, 'requests.bin')
  writeFileSync(data, texts.map((each) => each.join('')).join(SEPARATOR), 'latin1')
  const script = join(folder, 'requests.lua')
  writeFileSync(
    script,
    `local file = io.open(${JSON.stringify(data)}, "rb"); local all = file:read("*a"); file:close()
local requests, from = {}, 1
while true do
  local at = all:find("\\1", from, true)
  requests[#requests + 1] = all:sub(from, at and at - 1)
  if not at then break end
  from = at + 1
end
local next = 0
request = function() next = next % #requests + 1; return requests[next] end
`,
  )
  return script
}

const SEPARATOR = '\u0001'

const UNITS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 }

function readReport(report: string, elapsed: number): LoadResult {
  const responses = Number(/(\d+) requests in/.exec(report)?.[1])
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(report)?.[1] ?? 0)
  const broken =
    /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(report)?.slice(1) ?? []
  const percentile = (share: number): number => {
    const match = new RegExp(`^ +${share}% +([\\d.]+)(us|ms|s)`, 'm').exec(report)
    return Number(match?.[1]) * UNITS[match?.[2] ?? 's']!
  }
  return {
    responses,
    errors: refused + broken.reduce((sum, count) => sum + Number(count), 0),
    seconds: elapsed,
    busy: Number.NaN,
    p50: percentile(50),
    p99: percentile(99),
  }
}
