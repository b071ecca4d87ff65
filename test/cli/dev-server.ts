import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../support/free-port.ts'
import { createProject, type Files, type Serving, type TestProject } from './project.ts'

/** Milliseconds until a change must show. */
const DEADLINE = 60_000

/** The parts of a response that the tests of `mortar dev` read. */
export interface Answer {
  readonly status: number
  readonly broken: string | null
  readonly body: {
    readonly text?: string
    readonly hits?: number
    readonly pid?: number
    /** Of a problem. */
    readonly detail?: string
  }
}

/** A project that `mortar dev` serves. */
export interface DevServer {
  readonly project: TestProject
  readonly serving: Serving
  readonly port: number
  get(path?: string): Promise<Answer>
  /** Repeats a request until its response is the wanted one. */
  until(path: string, wanted: (answer: Answer) => boolean): Promise<Answer>
  /** Does so too, and fails with the first request that is refused. */
  untilServed(path: string, wanted: (answer: Answer) => boolean): Promise<Answer>
}

/** Returns the source of a route that responds with this text. */
export const route = (text: string, app = '../app.ts'): string => `import { hits } from '${app}'
export default () => ({ text: ${JSON.stringify(text)}, hits: ++hits.count, pid: process.pid })
`

/** The application whose `hits` each `route` counts. */
export const APP = `import { createApp } from 'mortar'\nexport const app = createApp()\nexport const hits = { count: 0 }\n`

/** Starts `mortar dev` on a project of these files, and waits for this output. */
export async function startDev(files: Files, started = /Ready in/): Promise<DevServer> {
  const project = createProject(files)
  const port = await freePort()
  const serving = project.serve(['dev', '--port', String(port)])
  await serving.output.until(started)

  async function get(path = '/'): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(DEADLINE) })
    const body = (await response.json()) as Answer['body']
    return { status: response.status, broken: response.headers.get('x-mortar-broken'), body }
  }

  async function repeat(
    ask: () => Promise<Answer | undefined>,
    wanted: (answer: Answer) => boolean,
  ): Promise<Answer> {
    const deadline = Date.now() + DEADLINE
    for (;;) {
      const answer = await ask()
      if (answer && wanted(answer)) return answer
      if (Date.now() > deadline) throw new Error(`The last response was ${JSON.stringify(answer)}`)
      await pause(20)
    }
  }

  return {
    project,
    serving,
    port,
    get,
    // A request in progress may be ended by a restart.
    until: (path, wanted) => repeat(() => get(path).catch(() => undefined), wanted),
    untilServed: (path, wanted) => repeat(() => get(path), wanted),
  }
}
