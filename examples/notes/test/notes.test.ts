/* oxlint-disable typescript/no-floating-promises -- Node's runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { loadRoutes } from 'mortar'
import { createClient, mailbox, tokenIn, type TestClient } from 'mortar/testing'
import { app } from '../app.ts'

before(() => loadRoutes(app, join(import.meta.dirname, '../routes')))
after(() => app.close())

async function signUp(email: string): Promise<TestClient> {
  const client = createClient(app)
  const { body } = await client.post('/auth/signup', { name: 'Somebody', email, password: 'a long password' })
  return client.withToken(body.accessToken)
}

test('a note belongs to who wrote it', async () => {
  const ada = await signUp('ada@example.com')
  const bob = await signUp('bob@example.com')
  const { body: note } = await ada.post('/notes', { title: 'Milk', text: 'Two bottles' })

  assert.equal((await bob.get(`/notes/${note.id}`)).status, 404)
  assert.equal((await bob.patch(`/notes/${note.id}`, { title: 'Mine' })).status, 404)
  assert.equal((await ada.get(`/notes/${note.id}`)).body.title, 'Milk')
})

test('a request without a sign-in gets 401', async () => {
  const { status, body } = await createClient(app).get('/notes')
  assert.equal(status, 401)
  assert.equal(body.code, 'unauthorized')
})

test('a password is reset by mail', async () => {
  const carl = await signUp('carl@example.com')
  await carl.post('/auth/forgot-password', { email: 'carl@example.com' })
  const token = tokenIn(await mailbox(app).waitFor('carl@example.com'))
  await carl.post('/auth/reset-password', { token, password: 'another long password' })

  const login = await carl.post('/auth/login', {
    email: 'carl@example.com',
    password: 'another long password',
  })
  assert.equal(login.status, 200)
})
