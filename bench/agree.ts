import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Server } from './servers.ts'
import type { Check, Workload } from './workloads/workload.ts'

/** Sends every check of a workload to a server. @returns the responses that differ from the expected ones. */
export async function disagreements(server: Server, workload: Workload): Promise<string[]> {
  const found: string[] = []
  for (const check of workload.checks(server.tokens)) {
    const problem = await answersWrongly(server.port, check)
    if (problem !== undefined)
      found.push(`${server.name}, ${check.request.method} ${check.request.path}: ${problem}`)
  }
  const { logFields } = workload
  if (logFields !== undefined && server.logFile !== undefined)
    for (const fault of await logFaults(server.logFile, logFields, workload.checks(server.tokens).length))
      found.push(`${server.name}: ${fault}`)
  return found
}

async function answersWrongly(port: number, check: Check): Promise<string | undefined> {
  const { method, path, headers, body, tail = '' } = check.request
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...headers, connection: 'close' },
    ...(body === undefined ? {} : { body: body + tail }),
  })
  const text = await response.text()
  if (response.status !== check.status)
    return `${response.status} instead of ${check.status}: ${text.slice(0, 200)}`
  const absent = check.headers?.find((name) => !response.headers.has(name))
  if (absent !== undefined) return `no header ${absent}`
  if (check.json !== undefined) return jsonFault(response, text, check.json)
  if (check.issues !== undefined) {
    const issues = issuesIn(text)
    if (!isDeepStrictEqual(issues, check.issues))
      return `issues ${issues.join(' ')}, not ${check.issues.join(' ')}`
  }
  return undefined
}

/** The bytes of the body are the same for all, and so is its type; some write the charset of JSON, some do not. */
function jsonFault({ headers }: Response, text: string, json: unknown): string | undefined {
  const type = headers.get('content-type')
  if (!/^application\/json(?:; ?charset=utf-8)?$/i.test(type ?? '')) return `content type ${type}`
  const expected = JSON.stringify(json)
  return text === expected
    ? undefined
    : `another body: ${text.slice(0, 300)}\n    instead of: ${expected.slice(0, 300)}`
}

/** Messages are each library's own; the places of the issues are the same for all. */
function issuesIn(text: string): string[] {
  const { errors = [] } = JSON.parse(text) as { errors?: { location: string; path: string }[] }
  return [...new Set(errors.map(({ location, path }) => `${location}.${path}`))].toSorted()
}

/** Each question has one line in the log, written when its connection has ended. */
async function logFaults(
  file: string,
  fields: NonNullable<Workload['logFields']>,
  questions: number,
): Promise<string[]> {
  let lines = requestLines(file)
  for (let tries = 0; tries < 100 && lines.length < questions; tries++) {
    await sleep(20)
    lines = requestLines(file)
  }
  if (lines.length !== questions) return [`${lines.length} lines logged for ${questions} requests`]
  return lines.flatMap((line) =>
    Object.entries(fields).flatMap(([name, type]) =>
      typeof line[name] === type
        ? []
        : [`no ${name} of type ${type} in the log line ${JSON.stringify(line)}`],
    ),
  )
}

function requestLines(file: string): Record<string, unknown>[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"path":'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}
