import { expect } from 'chai'
import type { ServedApp } from '../../support/adapters.ts'

/** A request, and the status, headers and body that the contract requires. A header that is null must be absent. */
export interface Case {
  readonly ask: string
  readonly send?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly status: number
  readonly is?: unknown
  readonly has?: object
  readonly head?: Readonly<Record<string, string | null | RegExp>>
}

export const JSON_TYPE = 'application/json; charset=utf-8'
export const TEXT_TYPE = 'text/plain; charset=utf-8'
export const PROBLEM = 'application/problem+json'
export const cookie = (token: string) => ({ cookie: `access_token=${token}` })
export const json = { 'content-type': 'application/json' }
export const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** Sends the request of a case and compares the response. */
export async function check(
  { fetch }: ServedApp,
  { ask, send, headers, status, is, has, head }: Case,
): Promise<void> {
  const [method, path] = ask.split(' ') as [string, string]
  const response = await fetch(path, {
    method,
    ...(headers && { headers }),
    ...(send === undefined ? {} : { body: send as string }),
  })
  const text = await response.text()
  const name = `${ask} ${JSON.stringify(headers ?? {})} ${String(send ?? '').slice(0, 80)} → ${response.status} ${text.slice(0, 300)}`
  expect(response.status, name).to.equal(status)
  checkHeaders(response, head, name)
  if (is !== undefined) expect(typeof is === 'string' ? text : JSON.parse(text), name).to.deep.equal(is)
  if (has) expect(withoutMessages(JSON.parse(text)), name).to.deep.include(has)
  if (status >= 400 && text !== '') checkProblem(response, JSON.parse(text) as object, name)
}

function checkHeaders(response: Response, head: Case['head'], name: string): void {
  for (const [header, value] of Object.entries(head ?? {})) {
    const found = response.headers.get(header)
    if (value instanceof RegExp) expect(found, name).to.match(value)
    else expect(found, name).to.equal(value)
  }
}

/** Issues are compared by location and path; rules have tests of their own, and messages are for people. */
function withoutMessages(problem: { errors?: { location?: string; path?: string }[] }): object {
  if (!problem.errors) return problem
  return {
    ...problem,
    errors: problem.errors.map(({ location, path }) => ({ location, path })),
  }
}

function checkProblem(response: Response, problem: object, name: string): void {
  expect(response.headers.get('content-type'), name).to.equal(PROBLEM)
  expect(problem, name).to.include.all.keys('type', 'title', 'status', 'detail', 'code', 'instance')
  expect(problem, name).to.include({ status: response.status })
}
