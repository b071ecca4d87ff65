import type { Instance } from './instance.ts'
import type { Requests, World } from './requests.ts'

/** Milliseconds after the response to a logout from which no process may accept the session's access token. */
const KNOWN_AFTER = 1500
/** The same while something is broken: `staleAfter`, and the time of a request. */
const KNOWN_LATE = 3500

interface Credential {
  readonly token: string
  readonly cookie: string
}

/** Sessions whose end was acknowledged. Their credentials must be refused by every process, whatever happens. */
export class EndedSessions {
  readonly #credentials: (Credential & { readonly at: number })[] = []

  add(credential: Credential): void {
    this.#credentials.push({ ...credential, at: Date.now() })
  }

  get size(): number {
    return this.#credentials.length
  }

  /** Tries one of the latest ended sessions at a random process. */
  async tryOne(requests: Requests, { findings, disturbances }: World): Promise<void> {
    const known = this.#credentials.filter(
      ({ at }) => Date.now() - at > (disturbances.overlap(at) ? KNOWN_LATE : KNOWN_AFTER),
    )
    const credential = known[known.length - 1 - Math.floor(Math.random() * Math.min(20, known.length))]
    if (!credential) return
    const headers = { authorization: `Bearer ${credential.token}` }
    const { status, json } = await requests.send({ method: 'GET', path: '/auth/me', headers })
    findings.count('ended sessions tried')
    if (status === 200)
      findings.add(
        'an ended session passes',
        `${Date.now() - credential.at} ms after its end ${JSON.stringify(json)}`,
      )
  }

  /** Tries every ended session at every process. */
  async tryAll(requests: Requests, { instances, findings }: World): Promise<void> {
    for (const credential of this.#credentials)
      for (const instance of instances) {
        const tokenStatus = await this.#statusOf(requests, instance, credential)
        findings.count('ended sessions tried')
        if (tokenStatus !== 401)
          findings.add('an ended session passes at the end', `${instance.name}: ${tokenStatus}`)
      }
    for (const { cookie } of this.#credentials) {
      const { status } = await requests.send({ method: 'POST', path: '/auth/refresh', headers: { cookie } })
      if (status !== 401) findings.add('an ended session is refreshed', `${status}`)
    }
  }

  async #statusOf(requests: Requests, instance: Instance, { token }: Credential): Promise<number> {
    const headers = { authorization: `Bearer ${token}` }
    return (await requests.send({ method: 'GET', path: '/auth/me', headers, instance })).status
  }
}
