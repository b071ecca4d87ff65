import { expect } from 'chai'
import { createDeviceMarks } from '../../../../plugins/auth/limits/device-marks.ts'
import { createAccessTokens } from '../../../../plugins/auth/tokens/access-tokens.ts'
import { deriveKeys } from '../../../../plugins/auth/tokens/keys.ts'
import { createRefreshTokens } from '../../../../plugins/auth/tokens/refresh-tokens.ts'
import { createResetTokens } from '../../../../plugins/auth/tokens/single-use-tokens.ts'

/*
 * Values that the first version made. A change of one of them ends every session, every reset token or every count of
 * the installations that upgrade. fixtures/README.md says how such values are made.
 */
const SECRET = 'a fixed secret of the golden vectors, 32 bytes or more'
const TOKEN = 'AAECAwQFBgcICQoLDA0ODw.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8'

describe('Golden vectors of the auth brick', () => {
  const keys = deriveKeys(SECRET)
  const tokens = createRefreshTokens({ keys })

  it('derive the same keys from a secret', () => {
    expect(keys.access.map((key) => key.export().toString('hex'))).to.deep.equal([
      '723849db43a2c6ccf6b9d3855bbfd69735ec94d5e0b86b9df9e9f8e03dc7e816',
    ])
    expect(keys.refresh.map((key) => key.toString('hex'))).to.deep.equal([
      '38c38fd93f70ed352de60873f611ac239ea68b4b83512af3ebbf98b253ed3655',
    ])
    expect(keys.device.map((key) => key.toString('hex'))).to.deep.equal([
      'b541eec1ed15a27d117c8ee2dcf15ad5406132de437de32016b2423af4faae5d',
    ])
    expect(keys.limits.toString('hex')).to.equal(
      'a180fa5c5b96d488f64d47633fc51c57745b4b24d18b0eb4da5ed85564b5e105',
    )
  })

  it('write the same header into an access token, which is compared byte for byte', () => {
    const settings = { keys, issuer: 'notes', audience: 'notes', lifetime: 60 }
    const { token } = createAccessTokens(settings).sign({ sub: 'ada', sid: 'session', user: {} })
    expect(token.split('.')[0]).to.equal(
      'eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6IjZpSmViR21zWlMyIn0',
    )
  })

  it('store a refresh token under the same hashes', () => {
    expect(tokens.hashes(TOKEN)).to.deep.equal({
      hash: '239adcd8d8a58628a70f5832abd74fdd18725623c3c5a33b99dec49dea06f1f1',
      familyHash: '93ccc18df5f9aa3e5c2fc6cdfd37ca8e52421e0ff0868e019615ae4d32297c7a',
    })
  })

  it('make the same successor of a refresh token, and find it again', () => {
    const session = { id: '00000000-0000-4000-8000-000000000001' }
    const successor = tokens.successor(TOKEN, session)
    expect(successor.token).to.equal('AAECAwQFBgcICQoLDA0ODw.xBus-yM6fwd7bWDzfsRUHV25pQJkowybv43gXmIfkmE')
    expect(successor.hash).to.equal('aef8fb9ab25c975ed73fd58caf3ed1f9324ba018de525130abab5f257afccb80')
    expect(tokens.recover(TOKEN, { ...session, tokenHash: successor.hash })).to.deep.equal(successor)
  })

  it('know a device by the same cookie', () => {
    const mark = 'AAECAwQFBgcICQoLDA0ODw.VtyG3QeieCVKYFsEt0xEhpY1wpwj_wFnzjBBwkp50ow'
    expect(createDeviceMarks(keys.device).verify(mark, 'ada@example.com')).to.equal('AAECAwQFBgcICQoLDA0ODw')
  })

  it('store a reset token under the same hash', () => {
    expect(createResetTokens().hash(TOKEN.split('.')[1])).to.equal(
      '99477c3601644e6505a67992dcc7c34669a39ed54bc2094a8478613694782e6e',
    )
  })
})
