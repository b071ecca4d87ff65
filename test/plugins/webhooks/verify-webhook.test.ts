import { createApp, createRouter } from 'mortar'
import { createClient } from 'mortar/testing'
import { object, string } from 'mortar/yup'
import { verifyWebhook, type ReceivedWebhook } from '@mortar/webhooks'
import { expect } from 'chai'
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { createSecret, signedHeaders } from '../../../plugins/webhooks/sending/sign.ts'

const SECRET = createSecret()
const OLD = createSecret()
const BODY = '{ "id": "1",  "type": "é" }'
const signed = (secrets = [SECRET], now = Date.now(), body = BODY) =>
  signedHeaders({ id: 'msg_1', body, now }, secrets)

describe('A signature', () => {
  it('is accepted by the packages standardwebhooks and svix', () => {
    const headers = { ...signed() }
    expect(new Webhook(SECRET).verify(BODY, headers)).to.deep.equal(JSON.parse(BODY))
    new SvixWebhook(SECRET).verify(BODY, headers)
    expect(() => new SvixWebhook(OLD).verify(BODY, headers)).to.throw('No matching signature')
    expect(() => new Webhook(OLD).verify(BODY, headers)).to.throw('No matching signature')
    expect(() => new Webhook(SECRET).verify(`${BODY} `, headers)).to.throw('No matching signature')
  })

  it('is valid for both secrets during a rotation', () => {
    const headers = { ...signed([SECRET, OLD]) }
    for (const secret of [SECRET, OLD]) new SvixWebhook(secret).verify(BODY, headers)
  })

  it('has a secret of 32 random bytes', () => {
    expect(Buffer.from(SECRET.slice('whsec_'.length), 'base64')).to.have.lengthOf(32)
    expect(SECRET).not.to.equal(OLD)
  })
})

describe('verifyWebhook', () => {
  const verify = (
    headers: Readonly<Record<string, string>>,
    { body = BODY, secret = SECRET }: { body?: string; secret?: string | string[] } = {},
  ) => {
    const received: ReceivedWebhook = {
      rawBody: Buffer.from(body),
      get: (name) => headers[name.toLowerCase()],
    }
    return verifyWebhook(received, secret)
  }
  const refused = (work: () => unknown): unknown =>
    expect(work).to.throw().that.includes({ status: 401, code: 'webhook_signature_invalid' })

  it('returns id and time of a message by one of the secrets', () => {
    const now = Math.floor(Date.now() / 1000) * 1000
    expect(verify(signed([SECRET], now))).to.deep.equal({ id: 'msg_1', sentAt: new Date(now) })
    expect(verify(signed([OLD]), { secret: [SECRET, OLD] }).id).to.equal('msg_1')
    const svix = new SvixWebhook(SECRET).sign('msg_1', new Date(now), BODY)
    expect(
      verify({ ...signed(), 'webhook-signature': svix, 'webhook-timestamp': String(now / 1000) }).id,
    ).to.equal('msg_1')
  })

  it('refuses other bytes, another secret, another time, another id and missing headers', () => {
    const now = Date.now()
    refused(() => verify(signed(), { body: JSON.stringify(JSON.parse(BODY)) }))
    refused(() => verify(signed([OLD])))
    refused(() => verify(signed([SECRET], now - 301_000)))
    refused(() => verify(signed([SECRET], now + 310_000)))
    refused(() => verify({ ...signed(), 'webhook-id': 'msg_2' }))
    for (const name of Object.keys(signed()).filter((each) => each.startsWith('webhook-'))) {
      refused(() => verify({ ...signed(), [name]: '' }))
      refused(() => verify({ ...signed(), [name]: 'x' }))
    }
    refused(() => verify(signed(), { secret: [] }))
  })

  it('guards a route of an application', async () => {
    const app = createApp({ environment: 'test', logger: false }).use(
      createRouter().post('/hooks', { rawBody: true, body: object({ type: string() }) }, (ctx) => ({
        id: verifyWebhook(ctx, SECRET).id,
      })),
    )
    const post = (headers: object) => createClient(app).post('/hooks', BODY, { headers: { ...headers } })
    expect((await post(signed())).body).to.deep.equal({ id: 'msg_1' })
    const { status, body } = await post({ 'content-type': 'application/json' })
    expect([status, body.code]).to.deep.equal([401, 'webhook_signature_invalid'])
    await app.close()
  })
})
