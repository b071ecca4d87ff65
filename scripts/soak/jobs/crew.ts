import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { LedgerPlan, Share } from './plan.ts'

const MEMBER = new URL('./member.ts', import.meta.url)

/** The processes of a run. A spare one, which has loaded its modules, replaces a killed worker. */
export class Crew {
  kills = 0
  readonly #plan: LedgerPlan
  readonly #workers: ChildProcess[] = []
  readonly #spares: ChildProcess[] = []
  #makers: readonly ChildProcess[] = []
  readonly #all = new Set<ChildProcess>()

  constructor(plan: LedgerPlan) {
    this.#plan = plan
  }

  async start(): Promise<void> {
    const { workers, producers, spares } = this.#plan
    const warm = (count: number): Promise<ChildProcess[]> =>
      Promise.all(Array.from({ length: count }, () => this.#warm()))
    const [makers, others, waiting] = await Promise.all([warm(producers), warm(workers), warm(spares)])
    this.#makers = makers
    this.#spares.push(...waiting)
    this.#workers.push(...others)
    await Promise.all([...makers, ...others].map((each) => begin(each)))
  }

  /** Makes every order. @returns the number of failed transactions. */
  async produce({ orders, producers, killEvery, disturb }: LedgerPlan): Promise<number> {
    const count = Math.ceil(orders / producers)
    let failed = 0
    const done = Promise.all(
      this.#makers.map((maker, index) => {
        maker.on('message', (message) => (failed += message === 'failed' ? 1 : 0))
        return made(maker, { first: index * count + 1, count })
      }),
    )
    const disturbance = setInterval(() => {
      this.#kill()
      disturb?.()
    }, killEvery)
    await done.finally(() => clearInterval(disturbance))
    return failed
  }

  async stop(): Promise<void> {
    await Promise.all(
      [...this.#all].map((child) => {
        const exited = once(child, 'exit')
        child.kill('SIGKILL')
        return exited
      }),
    )
  }

  /** Does nothing while no spare worker is ready. */
  #kill(): void {
    if (this.#plan.spares > 0 && this.#spares.length === 0) return
    if (this.#workers.shift()?.kill('SIGKILL')) this.kills++
    const spare = this.#spares.pop()
    if (spare === undefined) return
    this.#workers.push(spare)
    // It ends if the database is away, and its turn to be killed replaces it.
    begin(spare).catch(() => undefined)
    void this.#addSpare()
  }

  async #addSpare(): Promise<void> {
    this.#spares.push(await this.#warm())
  }

  async #warm(): Promise<ChildProcess> {
    const { connection, engine, lease, member } = this.#plan
    const child = fork(member ?? MEMBER, [JSON.stringify({ connection, engine, lease })], {
      execArgv: member === undefined ? ['--import', 'tsx', '--conditions=source'] : [],
    })
    this.#all.add(child)
    child.once('exit', () => this.#all.delete(child))
    await once(child, 'message')
    return child
  }
}

/** Starts the application of a process. */
function begin(child: ChildProcess): Promise<void> {
  child.send('begin')
  return told(child, 'begun')
}

/** Lets a producer make its orders. */
function made(child: ChildProcess, share: Share): Promise<void> {
  child.send(share)
  return told(child, 'made')
}

function told(child: ChildProcess, expected: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('message', (message) => {
      if (message === expected) resolve()
    })
    child.once('exit', () =>
      reject(new Error(`A process of the ledger has ended before it has '${expected}'.`)),
    )
  })
}
