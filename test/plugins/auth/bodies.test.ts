import { expect } from 'chai'
import { onEachStore } from './support/on-each-store.ts'
import { ADA } from './support/world.ts'

onEachStore('bodies of the auth endpoints', (inWorld) => {
  for (const path of ['signup', 'login', 'refresh', 'logout', 'forgot-password', 'reset-password'])
    it(`are JSON only: ${path} answers 415 to a form and to plain text`, () =>
      inWorld({}, async ({ client }) => {
        for (const type of [
          'application/x-www-form-urlencoded',
          'text/plain',
          'multipart/form-data; boundary=x',
        ]) {
          const answer = await client().post(`/auth/${path}`, JSON.stringify(ADA), { 'content-type': type })
          expect(answer.status, type).to.equal(415)
          expect(answer.headers['cache-control']).to.equal('no-store')
        }
      }))

  it('are at most 16 KB long', () =>
    inWorld({}, async ({ client }) => {
      const answer = await client().post('/auth/login', { ...ADA, padding: 'x'.repeat(17_000) })
      expect(answer.status).to.equal(413)
    }))

  it('are 400 when they are not JSON', () =>
    inWorld({}, async ({ client }) => {
      expect((await client().post('/auth/login', '{"email":')).status).to.equal(400)
    }))
})
