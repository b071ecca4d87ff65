import { Agent, request } from 'node:http'
import type { Fleet } from './fleet.ts'

/**
 * A client in a bad mobile network: it breaks off refreshes after 1 to 8 ms and repeats them immediately with the same
 * cookie, at another process each time. Every round ends with a refresh that it waits for.
 * @returns the first status of such a refresh that is not 200, else 200.
 */
export async function refreshWithAborts(
  { urls }: Fleet,
  number: number,
  first: string,
  rounds: number,
): Promise<number> {
  const agent = new Agent({ keepAlive: true })
  let turn = number
  let cookie = first
  const ask = async (patience?: number) => {
    const answer = await refresh({ url: urls[turn++ % urls.length]!, cookie, agent, patience })
    cookie = answer?.cookie ?? cookie
    return answer
  }
  try {
    for (let round = 0; round < rounds; round++) {
      for (let abort = 0; abort <= (round * 7 + number) % 3; abort++)
        await ask(1 + ((round + abort * 3 + number) % 8))
      const { status = 0 } = (await ask()) ?? {}
      if (status !== 200) return status
    }
    return 200
  } finally {
    agent.destroy()
  }
}

interface Refresh {
  readonly url: string
  readonly cookie: string
  readonly agent: Agent
  /** Milliseconds after which it is aborted. */
  readonly patience: number | undefined
}

/** @returns null when it was aborted. */
function refresh({ url, cookie, agent, patience }: Refresh) {
  return new Promise<{ status: number; cookie: string | undefined } | null>((resolve, reject) => {
    const options = { method: 'POST', headers: { cookie }, agent }
    const sent = request(`${url}/auth/refresh`, options, (response) => {
      const { statusCode, headers } = response
      response.resume()
      response.on('error', () => resolve(null))
      response.on('end', () =>
        resolve({ status: statusCode!, cookie: headers['set-cookie']?.[0]?.split(';')[0] }),
      )
    })
    sent.on('error', (error) => (patience === undefined ? reject(error) : resolve(null)))
    if (patience !== undefined) setTimeout(() => sent.destroy(), patience)
    sent.end()
  })
}
