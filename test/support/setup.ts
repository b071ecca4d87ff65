import { relative } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import './seed.ts'
import { forgetApplicationVariables } from './environment.ts'
import { describeOpenHandles, leftOpenSince, noteOpenHandles, openHandles } from './open-handles.ts'

forgetApplicationVariables(process.env)

let before: ReadonlyMap<string, number> = new Map()
let running = 'no test'
let runningFile: string | undefined

/** Keyed by promise, as Mocha emits the event a second time. */
const unhandled = new Map<Promise<unknown>, Error>()

process.on('unhandledRejection', (reason, promise) => {
  if (!unhandled.has(promise))
    unhandled.set(
      promise,
      new Error(`Rejected without a handler in or after "${running}"`, { cause: reason }),
    )
})

/** A parallel run names no file for a fault of its hooks. */
function fileName(): string {
  return runningFile === undefined ? 'The tests' : relative(process.cwd(), runningFile)
}

/** Hooks of the whole run: an unhandled rejection or an open handle makes it fail with the name of the test. */
export const mochaHooks = {
  async beforeAll(): Promise<void> {
    // Mocha's own timer of an asynchronous hook runs by then, as it does in afterAll.
    await nextTurn()
    before = openHandles()
  },

  beforeEach(this: Mocha.Context): void {
    running = this.currentTest?.fullTitle() ?? running
    runningFile = this.currentTest?.file ?? runningFile
  },

  afterEach(): void {
    noteOpenHandles(running)
  },

  async afterAll(this: Mocha.Context): Promise<void> {
    // A fault found here is one of this file, or of the last one of a run that is not parallel.
    if (this.test && runningFile !== undefined) this.test.file = runningFile
    const left = await leftOpenSince(before)
    // Mocha waits for an empty event loop, which would never come; this ends it once the report is out. A worker of a
    // parallel run is ended by its parent and still has other files to run.
    if (left.size > 0 && process.env.MOCHA_WORKER_ID === undefined)
      setTimeout(() => process.exit(1), 1000).unref()
    const faults = [...unhandled.values()]
    if (left.size > 0) faults.push(new Error(`${fileName()} left these open: ${describeOpenHandles(left)}`))
    const [first, ...others] = faults
    if (first && others.length === 0) throw first
    if (first) throw new AggregateError(faults, faults.map((fault) => fault.message).join('\n'))
  },
}
