import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, defineBrick, type App, type RequestCompleted } from 'mortar'
import { startupErrorOf } from '../support/startup-error-of.ts'

async function* cutOff() {
  yield 'a part'
  await nextTurn()
  throw new Error('The rest is missing.')
}

describe('inject()', () => {
  async function complete(path: string) {
    const done: RequestCompleted[] = []
    let signal: AbortSignal | undefined
    const app = createApp({ logger: false }).use(
      createRouter()
        .get('/whole', (ctx) => {
          signal = ctx.signal
          return { a: 1 }
        })
        .get('/cut', (ctx) => {
          signal = ctx.signal
          return cutOff()
        }),
    )
    app.events.on('request.completed', (event) => done.push(event as RequestCompleted))
    const outcome = await app.inject(path).then(
      ({ statusCode }) => statusCode,
      () => 'rejected',
    )
    await app.close()
    return { outcome, aborted: done.map((each) => each.aborted), isSignalled: signal?.aborted }
  }

  it('reports a response that was sent as complete', async () => {
    expect(await complete('/whole')).to.deep.equal({ outcome: 200, aborted: [false], isSignalled: false })
  })

  it('reports a response that the application cut as aborted', async () => {
    expect(await complete('/cut')).to.deep.equal({ outcome: 'rejected', aborted: [true], isSignalled: true })
  })
})

describe('inject() within the start of a brick', () => {
  const hello = () => createRouter().get('/', () => 'hello')
  const served = async (app: App) => (await app.inject('/')).body
  const appWith = (slots: (app: () => App) => object) => {
    const app: App = createApp({ logger: false, environment: 'test' })
      .use(defineBrick({ name: 'warm', ...slots(() => app) }))
      .use(hello())
    return app
  }

  for (const slot of ['start', 'work'])
    it(`rejects, because the request would wait for the ${slot} of the brick that waits for it`, async () => {
      const app = appWith((own) => ({
        [slot]: async () => {
          await nextTurn()
          await own().inject('/')
        },
      }))
      const { found, remedy, brick } = await startupErrorOf(() => app.ready())
      expect(found).to.equal("The brick 'warm' calls app.inject() while it starts, and waits for itself.")
      expect(remedy).to.include('after app.ready()')
      expect(brick).to.equal('warm')
    })

  it('leaves callers outside of the brick, and what the brick began before its start was over', async () => {
    const later: Promise<string>[] = []
    const app = appWith((own) => ({
      start() {
        later.push(
          nextTurn()
            .then(() => own().ready())
            .then(() => served(own())),
        )
      },
    }))
    expect(await served(app)).to.equal('hello')
    expect(await Promise.all(later)).to.deep.equal(['hello'])
    await app.close()
  })

  it('leaves other applications, also ones that start within', async () => {
    const other = createApp({ logger: false, environment: 'test' }).use(hello())
    const bodies: string[] = []
    const app = appWith(() => ({ start: async () => void bodies.push(await served(other)) }))
    await app.ready()
    expect(bodies).to.deep.equal(['hello'])
    await Promise.all([app.close(), other.close()])
  })
})
