import { expect } from 'chai'
import { createClient } from 'mortar/testing'
import { app } from '../app.ts'

describe('GET /hello/:name', () => {
  it('greets', async () => {
    const { status, body } = await createClient(app).get('/hello/Ada?loud=yes')
    expect(status).to.equal(200)
    expect(body).to.deep.equal({ message: 'HELLO ADA!' })
  })

  it('refuses a name that is too long', async () => {
    const { status, body } = await createClient(app).get(`/hello/${'a'.repeat(41)}`)
    expect(status).to.equal(422)
    expect(body.errors[0].path).to.equal('name')
  })
})
