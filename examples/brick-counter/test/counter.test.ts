import assert from 'node:assert/strict'
import { createApp, StartupError } from 'mortar'
import { createClient } from 'mortar/testing'
import { findLowLimit } from '../src/doctor.ts'
import { counter } from '../src/index.ts'

const appWith = (...options: Parameters<typeof counter>) =>
  createApp({ logger: false }).use(counter(...options))

describe('counter', () => {
  it('counts up to its limit', async () => {
    const client = createClient(appWith({ limit: 2 }))
    assert.deepEqual((await client.get('/counter')).body, { value: 0 })
    assert.deepEqual((await client.post('/counter')).body, { value: 1 })
    assert.deepEqual((await client.post('/counter')).body, { value: 2 })
    const { status, body } = await client.post('/counter')
    assert.equal(status, 409)
    assert.equal(body.code, 'counter_full')
    assert.equal(body.title, 'Counter full')
    assert.equal(body.limit, 2)
  })

  it('is a service and a member of ctx', async () => {
    const app = appWith({ prefix: '/visits' })
    await app.ready()
    app.services.counter.increment()
    assert.deepEqual((await createClient(app).get('/visits')).body, { value: 1 })
  })

  it('refuses a limit that is not a whole number above 0', () => {
    for (const limit of [0, -1, 1.5, Number.NaN])
      assert.throws(
        () => counter({ limit }),
        (error) => error instanceof StartupError && error.code === 'COUNTER_LIMIT',
      )
  })

  it('refuses an unknown option', () => {
    assert.throws(() => counter({ limits: 3 } as object), /limits/)
  })

  it('warns about a low limit in production', () => {
    assert.deepEqual(
      findLowLimit(3, 'production').map(({ level, code }) => [level, code]),
      [['warning', 'COUNTER_LOW_LIMIT']],
    )
    assert.deepEqual([...findLowLimit(10, 'production'), ...findLowLimit(3, 'development')], [])
  })
})
