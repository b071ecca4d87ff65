import { expect } from 'chai'
import {
  createApp,
  createRouter,
  HttpError,
  PROBLEM_CODES,
  ServiceUnavailable,
  TooManyRequests,
} from 'mortar'
import { STATUS_CODES } from 'node:http'

describe('The default code of a status', () => {
  const codeOf = (status: number): string => new HttpError(status, 'Why').code

  it('is a code of that status, if the core declares one', () => {
    for (const { status } of Object.values(PROBLEM_CODES)) {
      const code = codeOf(status) as keyof typeof PROBLEM_CODES
      expect(PROBLEM_CODES[code]?.status, `${status} ${code}`).to.equal(status)
    }
  })

  it('is the general code if a status has several codes', () => {
    const several = [400, 401, 403, 413, 500, 503].map((status) => new HttpError(status, 'Why').code)
    expect(several).to.deep.equal([
      'bad_request',
      'unauthorized',
      'forbidden',
      'payload_too_large',
      'internal_error',
      'service_unavailable',
    ])
  })

  it('is made of the phrase for any other status, and never the code of another', () => {
    const made = [402, 418, 423, 425, 428, 451, 502, 504, 507, 599].map(codeOf)
    expect(made).to.deep.equal([
      'payment_required',
      'im_a_teapot',
      'locked',
      'too_early',
      'precondition_required',
      'unavailable_for_legal_reasons',
      'bad_gateway',
      'gateway_timeout',
      'insufficient_storage',
      'status_599',
    ])
    const all = Array.from({ length: 200 }, (_, index) => codeOf(400 + index))
    expect(new Set(all)).to.have.length(200)
  })

  it('comes with the phrase as the title', async () => {
    const app = createApp({ logger: false })
    const router = createRouter()
    router.get('/:status', (ctx) => {
      throw new HttpError(Number(ctx.params['status']), 'Why')
    })
    app.use(router)
    for (const status of [402, 418, 423, 425, 428, 451, 502, 504, 507]) {
      const { statusCode, body } = await app.inject({ method: 'GET', url: `/${status}` })
      const { type, title, code } = JSON.parse(body) as Record<string, string>
      expect({ statusCode, type, title, code }).to.deep.equal({
        statusCode: status,
        type: 'about:blank',
        title: STATUS_CODES[status],
        code: codeOf(status),
      })
    }
    await app.close()
  })
})

describe('A problem document', () => {
  it('has the status of its error, whatever status its code has elsewhere', async () => {
    const app = createApp({ logger: false }).use(() => {
      throw new HttpError(410, 'Why', { code: 'not_found' })
    })
    const { statusCode, body } = await app.inject('/')
    expect(statusCode).to.equal(410)
    expect(JSON.parse(body)).to.include({
      status: 410,
      code: 'not_found',
      type: 'urn:mortar:problem:not_found',
      title: 'Not Found',
    })
    await app.close()
  })
})

describe('Retry-After of an error', () => {
  const rows: readonly (readonly [string, () => HttpError, string, object])[] = [
    ['a time', () => new TooManyRequests(1.2, 'slow'), 'slow', { 'Retry-After': '2' }],
    ['a detail first', () => new TooManyRequests('slow'), 'slow', {}],
    ['nothing', () => new TooManyRequests(), 'Too many requests. Try again later.', {}],
    ['a detail and options', () => new TooManyRequests('slow', { headers: { A: 'b' } }), 'slow', { A: 'b' }],
    ['no number', () => new TooManyRequests(Number.NaN), 'Too many requests. Try again later.', {}],
    ['no end', () => new TooManyRequests(Infinity, 'slow'), 'slow', {}],
    ['a header of its own', () => new TooManyRequests(5, 'slow', { headers: { 'retry-after': '9' } }), 'slow', { 'retry-after': '9' }],
    ['a header of a 503', () => new ServiceUnavailable('down', { retryAfter: 5, headers: { 'Retry-After': '9' } }), 'down', { 'Retry-After': '9' }],
    ['no number in a 503', () => new ServiceUnavailable('down', { retryAfter: Number.NaN }), 'down', {}],
  ] // prettier-ignore
  for (const [name, make, message, headers] of rows)
    it(`is a number of seconds or absent: ${name}`, () => {
      const error = make()
      expect({ message: error.message, headers: error.headers }).to.deep.equal({ message, headers })
    })
})
