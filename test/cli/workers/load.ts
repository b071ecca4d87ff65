import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

/** Results of a load. */
export interface LoadResult {
  readonly sent: number
  /** Code or status of each request without a complete response. */
  readonly failed: readonly string[]
  /** Bodies of the responses. */
  readonly bodies: ReadonlySet<string>
}

/** A load that runs until it is stopped. */
export interface Load {
  readonly sent: number
  stop(): Promise<LoadResult>
}

export interface LoadOptions {
  readonly port: number
  readonly path?: string
  /** Clients that send one request after the other. */
  readonly clients: number
  /** True to reuse connections. */
  readonly keepAlive: boolean
  /** Milliseconds between the requests of one client. */
  readonly pause?: number
}

/** Sends requests until it is stopped. A client without a response for 20 s counts as failed. */
export function startLoad({ port, path = '/', clients, keepAlive, pause = 0 }: LoadOptions): Load {
  const failed: string[] = []
  const bodies = new Set<string>()
  let sent = 0
  const stopping = new AbortController()

  async function client(): Promise<void> {
    const agent = new Agent({ keepAlive, maxSockets: 1 })
    while (!stopping.signal.aborted) {
      sent += 1
      try {
        bodies.add(await get({ port, path, agent }))
      } catch (error) {
        failed.push((error as NodeJS.ErrnoException).code ?? (error as Error).message)
        // A refused connection fails immediately, and would fail thousands of times.
        await wait(20)
      }
      if (pause > 0) await wait(pause)
    }
    agent.destroy()
  }

  const running = Promise.all(Array.from({ length: clients }, () => client()))
  return {
    get sent() {
      return sent
    },
    async stop() {
      stopping.abort()
      await running
      return { sent, failed, bodies }
    },
  }
}

/** Sends one request. @returns the body. */
export function get(target: {
  readonly port: number
  readonly path: string
  readonly agent?: Agent
  readonly headers?: Readonly<Record<string, string>>
}): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', ...target, timeout: 20_000 }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (body += part))
      response.on('end', () => {
        if (response.statusCode === 200) resolve(body)
        else reject(new Error(`status ${response.statusCode}`))
      })
      response.on('error', reject)
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error('no response')))
    outgoing.on('error', reject)
    outgoing.end()
  })
}
