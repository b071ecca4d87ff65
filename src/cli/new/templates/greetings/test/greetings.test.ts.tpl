import assert from 'node:assert/strict'
import { createClient } from 'mortar/testing'
import { app } from '../app.ts'

describe('greetings', () => {
  it('are kept', async () => {
    const client = createClient(app)
    const { status } = await client.post('/greetings', { name: 'Ada', text: 'Good morning' })
    assert.equal(status, 201)
    const { body } = await client.get('/greetings')
    assert.equal(body[0].text, 'Good morning')
  })

  it('are refused without text', async () => {
    const { status, body } = await createClient(app).post('/greetings', { name: 'Ada', text: ' ' })
    assert.equal(status, 422)
    assert.equal(body.errors[0].path, 'text')
  })
})
