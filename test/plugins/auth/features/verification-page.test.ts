import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { inWorld } from '../support/world.ts'
import { stored, VERIFY, withLink, withVerification } from './verification-scene.ts'

describe('The page of a link', () => {
  it('spends nothing, however often a scanner or a browser opens it', () =>
    withVerification(inWorld, async (scene) => {
      const { client, token } = await withLink(scene)
      for (const method of ['GET', 'HEAD', 'OPTIONS'] as const)
        for (const url of [VERIFY, `${VERIFY}?token=${token}`])
          for (const headers of [{}, { purpose: 'prefetch', 'sec-purpose': 'prefetch;prerender' }])
            expect((await scene.app.inject({ method, url, headers })).statusCode).to.be.below(300)
      for (const type of [
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'text/plain',
      ]) {
        const answer = await client.post(VERIFY, `token=${token}`, { 'content-type': type })
        expect(answer.status).to.equal(415)
      }
      expect((await stored(scene)).email_verified_at).to.equal(null)
      expect((await client.post(VERIFY, { token })).status).to.equal(200)
    }))

  it('loads nothing, tells nobody its address, and runs no script but its own', () =>
    withVerification(inWorld, async (scene) => {
      const { headers, text } = await scene.client().get(VERIFY)
      expect(headers).to.include({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'content-type': 'text/html; charset=utf-8',
      })
      const policy = String(headers['content-security-policy'])
      expect(policy).to.include("default-src 'none'").and.include("frame-ancestors 'none'")
      expect(policy).to.not.include('unsafe')
      for (const element of ['script', 'style']) {
        const [, content] = new RegExp(`<${element}>([^]*)</${element}>`).exec(text)!
        const hash = createHash('sha256').update(content!).digest('base64')
        expect(policy).to.include(`${element}-src 'sha256-${hash}'`)
      }
      expect(text).to.not.match(/https?:|src=/)
    }))

  it('is not in the OpenAPI document, whose endpoints are', () =>
    withVerification(
      inWorld,
      async (scene) => {
        const { body } = await scene.client().get('/openapi.json')
        expect(Object.keys(body.paths['/auth/verify-email'])).to.deep.equal(['post'])
        const { responses } = body.paths['/auth/verify-email'].post
        expect(responses).to.include.all.keys('200', '401', '409', '422', '429')
        expect(body.paths['/auth/change-email'].post['x-policies']).to.deep.equal(['fresh'])
        expect(body.paths['/auth/login'].post.responses).to.not.have.property('403')
        expect(body.paths['/auth/signup'].post.responses).to.have.property('201')
      },
      { app: { openapi: {} } },
    ))

  it('has the responses of signup and login that options change', () =>
    withVerification(
      inWorld,
      async (scene) => {
        const { body } = await scene.client().get('/openapi.json')
        expect(body.paths['/auth/login'].post.responses).to.have.property('403')
        const { responses } = body.paths['/auth/signup'].post
        expect(responses).to.have.property('202')
        expect(responses).to.not.have.any.keys('201', '409')
      },
      { feature: { uniformSignup: true, verifiedOnly: true }, app: { openapi: {} } },
    ))
})
