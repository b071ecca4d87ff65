import { expect } from 'chai'
import { createClient, mailbox, tokenIn, type TestClient } from 'mortar/testing'
import { app } from '../app.ts'

async function signUp(email: string): Promise<TestClient> {
  const client = createClient(app)
  const { body } = await client.post('/auth/signup', { name: 'Somebody', email, password: 'a long password' })
  return client.withToken(body.accessToken)
}

describe('GET /profile', () => {
  it('shows who signed in', async () => {
    const ada = await signUp('ada@example.com')
    const { status, body } = await ada.get('/profile')
    expect(status).to.equal(200)
    expect(body).to.include({ role: 'user' })
  })

  it('is for those who signed in', async () => {
    const { status, body } = await createClient(app).get('/profile')
    expect(status).to.equal(401)
    expect(body.code).to.equal('unauthorized')
  })
})

describe('a forgotten password', () => {
  it('is reset by mail', async () => {
    const carl = await signUp('carl@example.com')
    await carl.post('/auth/forgot-password', { email: 'carl@example.com' })
    const token = tokenIn(await mailbox(app).waitFor('carl@example.com', 'Reset your password'))
    await carl.post('/auth/reset-password', { token, password: 'another long password' })

    const login = await carl.post('/auth/login', {
      email: 'carl@example.com',
      password: 'another long password',
    })
    expect(login.status).to.equal(200)
  })
})
