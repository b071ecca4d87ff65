import assert from 'node:assert/strict'
import { createClient } from 'mortar/testing'
import { app } from '../app.ts'

describe('GET /hello/:name', () => {
  it('greets', async () => {
    const { status, body } = await createClient(app).get('/hello/Ada?loud=yes')
    assert.equal(status, 200)
    assert.deepEqual(body, { message: 'HELLO ADA!' })
  })

  it('refuses a name that is too long', async () => {
    const { status, body } = await createClient(app).get(`/hello/${'a'.repeat(41)}`)
    assert.equal(status, 422)
    assert.equal(body.errors[0].path, 'name')
  })
})
