import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, type RequestCompleted } from 'mortar'

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
