import { expect } from 'chai'
import { createClient } from 'mortar/testing'
import { app } from '../app.ts'

describe('greetings', () => {
  it('are kept', async () => {
    const client = createClient(app)
    const { status } = await client.post('/greetings', { name: 'Ada', text: 'Good morning' })
    expect(status).to.equal(201)
    const { body } = await client.get('/greetings')
    expect(body[0].text).to.equal('Good morning')
  })

  it('are refused without text', async () => {
    const { status, body } = await createClient(app).post('/greetings', { name: 'Ada', text: ' ' })
    expect(status).to.equal(422)
    expect(body.errors[0].path).to.equal('text')
  })
})
