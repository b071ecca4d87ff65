import { expect } from 'chai'
import { HttpError, PROBLEM_CODES } from 'mortar'
import { DEFAULT_CODES } from '../../src/errors/codes.ts'

describe('The default code of a status', () => {
  for (const [status, code] of Object.entries(DEFAULT_CODES))
    it(`is ${code} for ${status}, a code of that status`, () => {
      expect(PROBLEM_CODES[code].status).to.equal(Number(status))
      expect(new HttpError(Number(status), 'Why').code).to.equal(code)
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

  it('is declared for every status that the core sends', () => {
    const sent = Object.values(PROBLEM_CODES).map(({ status }) => String(status))
    expect(Object.keys(DEFAULT_CODES)).to.have.members([...new Set(sent)])
  })

  it('is the code of 400 or 500 for any other status', () => {
    expect([402, 451, 507, 599].map((status) => new HttpError(status, 'Why').code)).to.deep.equal([
      'bad_request',
      'bad_request',
      'internal_error',
      'internal_error',
    ])
  })
})
