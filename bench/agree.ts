import { isDeepStrictEqual } from 'node:util'
import type { Server } from './servers.ts'
import type { Check, Workload } from './workloads.ts'

/** Asks a server every question of a workload. @returns what it answered differently from what all must answer. */
export async function disagreements(server: Server, workload: Workload): Promise<string[]> {
  const found: string[] = []
  for (const check of workload.checks(server.tokens)) {
    const problem = await answersWrongly(server.port, check)
    if (problem !== undefined)
      found.push(`${server.name}, ${check.request.method} ${check.request.path}: ${problem}`)
  }
  return found
}

async function answersWrongly(port: number, check: Check): Promise<string | undefined> {
  const { method, path, headers, body } = check.request
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...headers, connection: 'close' },
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  if (response.status !== check.status)
    return `${response.status} instead of ${check.status}: ${text.slice(0, 200)}`
  const absent = check.headers?.find((name) => !response.headers.has(name))
  if (absent !== undefined) return `no header ${absent}`
  if (check.json !== undefined && !isDeepStrictEqual(JSON.parse(text), check.json))
    return `another body: ${text}`
  if (check.issues !== undefined) {
    const issues = issuesIn(text)
    if (!isDeepStrictEqual(issues, check.issues))
      return `issues ${issues.join(' ')}, not ${check.issues.join(' ')}`
  }
  return undefined
}

/** Messages are each library's own; where the fault lies is the same for all. */
function issuesIn(text: string): string[] {
  const { errors = [] } = JSON.parse(text) as { errors?: { location: string; path: string }[] }
  return [...new Set(errors.map(({ location, path }) => `${location}.${path}`))].toSorted()
}
