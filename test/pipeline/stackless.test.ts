import { expect } from 'chai'
import { HttpError, NotFound } from 'mortar'
import { stackless } from '../../src/errors/stackless.ts'

describe('stackless', () => {
  it('makes an error without frames, and leaves those made later alone', () => {
    expect(stackless(() => new NotFound('gone')).stack).to.equal('NotFound: gone')
    expect(new NotFound('gone').stack).to.contain('stackless.test')
    expect(() => stackless(() => { throw new RangeError('x') })).to.throw(RangeError) // prettier-ignore
    expect(new NotFound('gone').stack).to.contain('stackless.test')
  })

  it('leaves an error its default code', () => {
    expect([400, 401, 404, 418, 422, 500, 503, 599].map((status) => new HttpError(status, '').code)).to.deep.equal(['bad_request', 'unauthorized', 'not_found', 'bad_request', 'validation_failed', 'internal_error', 'service_unavailable', 'internal_error']) // prettier-ignore
  })
})
