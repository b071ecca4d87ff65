import { expect } from 'chai'
import { createApp, defineBrick } from 'mortar'
import { withBricks } from '../../src/cli/project/with-bricks.ts'
import { deferred } from '../support/deferred.ts'

const QUIET = { environment: 'test', logger: false, signals: false } as const

describe('the slot work of a brick', () => {
  const seen: unknown[] = []
  const worker = (name: string, fails = false) =>
    defineBrick({
      name,
      start: () => seen.push(`start ${name}`),
      work: (_services, { servesRequests }) => {
        seen.push(`work ${name}${servesRequests ? '' : ' alone'}`)
        if (fails) throw new Error('no queue')
      },
      stop: () => seen.push(`stop ${name}`),
    })
  const appWith = (...bricks: ReturnType<typeof worker>[]) => createApp({ ...QUIET, bricks })
  const inWork = async (run: () => Promise<void>): Promise<void> => {
    process.env['FRAMEWORK_MODE'] = 'work'
    try {
      await run()
    } finally {
      delete process.env['FRAMEWORK_MODE']
    }
  }
  beforeEach(() => void (seen.length = 0))

  it('begins when every brick has started', async () => {
    await (await appWith(worker('one'), worker('two')).ready()).close()
    expect(seen).to.deep.equal(['start one', 'start two', 'work one', 'work two', 'stop two', 'stop one'])
  })

  it('gets a signal that aborts as soon as the application begins to drain', async () => {
    let given: AbortSignal | undefined
    const brick = defineBrick({ name: 'one', work: (_services, { stopping }) => void (given = stopping) })
    const app = await createApp({ ...QUIET, bricks: [brick] }).ready()
    expect(given!.aborted).to.equal(false)
    const closing = app.close({ drainDelay: '1h' })
    expect(given!.aborted).to.equal(true)
    await app.close()
    await closing
  })

  it('stops the bricks if it fails, and is left out by a command', async () => {
    const error: unknown = await appWith(worker('one', true))
      .ready()
      .catch((reason: unknown) => reason)
    expect(error).to.include({ code: 'MORTAR_BRICK_START', brick: 'one' })
    expect((error as Error).cause).to.be.instanceOf(Error)
    expect(seen).to.deep.equal(['start one', 'work one', 'stop one'])
    seen.length = 0
    await withBricks(await appWith(worker('one')).inspect(), {}, async () => undefined)
    expect(seen).to.deep.equal(['start one', 'stop one'])
  })

  it('does not begin after the application has closed', async () => {
    const { promise: pending, resolve } = deferred()
    const slow = defineBrick({ name: 'slow', work: () => pending })
    const app = createApp({ ...QUIET, shutdownTimeout: 0.01, bricks: [slow, worker('two')] })
    const ready = app.ready().catch(() => undefined)
    await new Promise(setImmediate)
    await app.close()
    resolve()
    await ready
    await new Promise(setImmediate)
    expect(seen).to.deep.equal(['start two', 'stop two'])
  })

  it('is alone in the mode work, in which an application serves probes only', () =>
    inWork(async () => {
      const app = appWith(worker('one'))
      const { url } = await app.listen(0, '127.0.0.1')
      const statuses = await Promise.all(
        ['/livez', '/readyz', '/'].map(async (path) => (await fetch(`${url}${path}`)).status),
      )
      await app.close()
      expect(statuses).to.deep.equal([200, 200, 404])
      expect(seen).to.include('work one alone')
    }))

  it('is needed in the mode work', () =>
    inWork(async () => {
      const error: unknown = await appWith()
        .ready()
        .catch((reason: unknown) => reason)
      expect(error).to.include({ code: 'MORTAR_NO_WORK' })
    }))
})
