import { expect } from 'chai'
import { createClient } from 'mortar/testing'
import { app } from '../app.ts'

describe('GET /', () => {
  it('names the service', async () => {
    const { status, body } = await createClient(app).get('/')
    expect(status).to.equal(200)
    expect(body.name).to.equal('{{title}}')
  })

  it('is ready', async () => {
    expect((await createClient(app).get('/readyz')).status).to.equal(200)
  })
})
