import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Disturbances } from './disturbances.ts'
import type { Findings } from './findings.ts'
import type { Instance } from './instance.ts'
import type { Signals } from './signals.ts'

/** The longest wait for a response; a request that takes longer is a finding. */
const PATIENCE = 40_000

export interface Call {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | Buffer
  /** Milliseconds after which the client leaves. */
  readonly abortAfter?: number | undefined
  readonly instance?: Instance
}

/** A process, or a proxy in front of all of them. */
export type Target = Pick<
  Instance,
  'name' | 'port' | 'up' | 'drains' | 'killedAt' | 'stoppedAt' | 'linesWith'
> & {
  readonly isProxy?: boolean
}

/** A complete response, or a status of 0: the outcome is unknown to the client. */
export interface Outcome {
  readonly status: number
  readonly json: Record<string, unknown>
  readonly cookies: readonly string[]
}

type Sent =
  { readonly outcome: Outcome } | { readonly failure: 'refused' | 'lost' | 'aborted' | 'reused' | 'late' }

const UNKNOWN: Outcome = { status: 0, json: {}, cookies: [] }

/** Sends the requests of one client with one address, and judges what no client should see. */
export class Requests {
  readonly #targets: readonly Target[]
  readonly #findings: Findings
  readonly #disturbances: Disturbances
  readonly #signals: Signals
  readonly #address: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 2 })

  constructor(world: World, address: string) {
    this.#targets = world.targets
    this.#findings = world.findings
    this.#disturbances = world.disturbances
    this.#signals = world.signals
    this.#address = address
  }

  /** Sends a request to any process that is up. A refused connection is repeated elsewhere, as a balancer does. */
  async send(call: Call): Promise<Outcome> {
    const deadline = Date.now() + PATIENCE
    while (Date.now() < deadline) {
      const instance = call.instance ?? this.#pick()
      if (!instance) {
        await wait(50)
        continue
      }
      const from = Date.now()
      const sent = await this.#once(instance, call)
      if ('outcome' in sent) return this.#judge(sent.outcome, { call, instance, from })
      if (sent.failure !== 'refused') return this.#explain(sent.failure, { call, instance, from })
      if (instance.drains) this.#findings.add('a process that drains refuses a connection', instance.name)
      else this.#findings.count('connections refused by a process that was ending')
      if (call.instance) return UNKNOWN
      await wait(20)
    }
    this.#findings.add('no process accepts connections', `${call.method} ${call.path}`)
    return UNKNOWN
  }

  close(): void {
    this.#agent.destroy()
  }

  #pick(): Target | undefined {
    const up = this.#targets.filter((instance) => instance.up)
    return up[Math.floor(Math.random() * up.length)]
  }

  #judge(outcome: Outcome, { call, instance, from }: Attempt): Outcome {
    const { status, json } = outcome
    const what = `${call.method} ${call.path} by ${instance.name}: ${JSON.stringify(json).slice(0, 200)}`
    this.#findings.count('responses')
    if (instance.isProxy && status >= 502 && json['code'] === undefined)
      this.#judgeProxy(`${status} of ${instance.name}`, { call, instance, from })
    else if (status === 503) {
      this.#findings.count('responses with 503')
      this.#signals.lost()
      if (!this.#disturbances.overlap(from)) this.#findings.add('503 while nothing was broken', what)
    } else if (status >= 500)
      this.#findings.add(
        `response with ${status}`,
        `${what}\n${instance.linesWith(String(json['instance']))}`,
      )
    else if (status === 429) this.#findings.add('429 for a client within its limits', what)
    return outcome
  }

  /** A proxy without a process that responds has a response of its own. */
  #judgeProxy(what: string, { call, instance, from }: Attempt): void {
    this.#signals.lost()
    if (instance.killedAt >= from - 1000 || this.#disturbances.overlap(from)) this.#findings.count(what)
    else this.#findings.add(`${what} while nothing was broken`, `${call.method} ${call.path}`)
  }

  #explain(failure: 'lost' | 'aborted' | 'reused' | 'late', { call, instance, from }: Attempt): Outcome {
    const what = `${call.method} ${call.path} by ${instance.name} after ${Date.now() - from} ms`
    if (failure === 'aborted') this.#findings.count('requests that the client left')
    else if (failure === 'late') this.#findings.add(`no response within ${PATIENCE / 1000} s`, what)
    else if (instance.killedAt >= from) this.#findings.count('requests lost with a killed process')
    else if (failure === 'reused') this.#findings.count('idle connections closed before they were reused')
    else if (this.#disturbances.overlap(from) && instance.stoppedAt >= from)
      this.#findings.count('requests lost with a process that stopped while its engine was broken')
    else this.#findings.add('a request without a response', what)
    return UNKNOWN
  }

  #once(instance: Target, call: Call): Promise<Sent> {
    return new Promise((resolve) => {
      const { method, path, body, abortAfter } = call
      const data =
        body === undefined ? undefined : Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
      const req = httpRequest({
        agent: this.#agent,
        host: '127.0.0.1',
        port: instance.port,
        method,
        path,
        headers: {
          'x-forwarded-for': this.#address,
          'sec-fetch-site': 'same-origin',
          ...(data === undefined ? {} : { 'content-length': data.length }),
          ...(body === undefined || Buffer.isBuffer(body) ? {} : { 'content-type': 'application/json' }),
          ...call.headers,
        },
      })
      let left: 'aborted' | 'late' | undefined
      const leave = (why: 'aborted' | 'late') => (): void => {
        left = why
        req.destroy()
      }
      const late = setTimeout(leave('late'), PATIENCE)
      const early = abortAfter === undefined ? undefined : setTimeout(leave('aborted'), abortAfter)
      const finish = (sent: Sent): void => {
        clearTimeout(late)
        clearTimeout(early)
        resolve(sent)
      }
      req.on('error', (error: NodeJS.ErrnoException) => {
        if (left) finish({ failure: left })
        else if (error.code === 'ECONNREFUSED') finish({ failure: 'refused' })
        else finish({ failure: req.reusedSocket ? 'reused' : 'lost' })
      })
      req.on('response', (res) => {
        read(res).then(
          (outcome) => finish({ outcome }),
          () => finish({ failure: left ?? 'lost' }),
        )
      })
      req.end(data)
    })
  }
}

/** The things that every client of a soak shares. */
export interface World {
  readonly instances: readonly Instance[]
  /** The processes, or proxies in front of them, to which members send requests. */
  readonly targets: readonly Target[]
  readonly findings: Findings
  readonly disturbances: Disturbances
  readonly signals: Signals
}

interface Attempt {
  readonly call: Call
  readonly instance: Target
  readonly from: number
}

async function read(res: IncomingMessage): Promise<Outcome> {
  const chunks: Buffer[] = []
  for await (const chunk of res) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const json = (res.headers['content-type'] ?? '').includes('json') && text !== '' ? JSON.parse(text) : {}
  return {
    status: res.statusCode ?? 0,
    json: json as Record<string, unknown>,
    cookies: res.headers['set-cookie'] ?? [],
  }
}
