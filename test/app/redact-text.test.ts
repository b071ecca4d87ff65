import { inspect } from 'node:util'
import { expect } from 'chai'
import { StartupError, StartupErrors } from '../../src/errors/startup-error.ts'
import { readableError } from '../../src/support/readable-error.ts'
import { redact } from '../../src/support/redact.ts'
import { redactText } from '../../src/support/redact-text.ts'

const S = 's3cr3tvalue'

describe('redactText', () => {
  for (const text of [
    `password=${S}&email=a`,
    `host=h password=${S} user=u`,
    `Cookie: theme=dark; mortar_refresh=${S}; a=b`,
    `Cookie: __Host-mortar_refresh=${S}`,
    `mortar_refresh=${S}`,
    `__Host-mortar_device=${S}`,
    `Authorization: ${S}`,
    `Authorization: Token ${S}`,
    `password: ${S}`,
    `Bearer\t${S}`,
    `?code=${S}`,
    `/callback?state=1&code=${S}`,
    `/cb?token= ${S}`,
    `{"password":["${S}"]}`,
    `{"password":{"value":"${S}"}}`,
    JSON.stringify({ password: S }),
    JSON.stringify({ password: `a"b${S}` }),
    `postgres://u:a?b#${S}@h/db`,
    JSON.stringify({ data: JSON.stringify({ password: S, a: 1 }) }),
    JSON.stringify({ data: JSON.stringify({ data: JSON.stringify({ token: S }) }) }),
    `{'password':'${S}'}`,
    inspect({ password: S, nested: { refreshToken: S } }),
    `postgres://u:a/${S}@h/db`,
    `postgres://u:a@${S}@h/db`,
    `postgres://u:${S}@h/db`,
    `postgres://u:a@b${S}/c${S}@h/db`,
    `redis://:a/${S}@h`,
    `password%3D${S}%26a%3D1`,
    inspect(new Map([['password', S]])),
    `-----BEGIN EC PRIVATE KEY-----\n${S}\n-----END EC PRIVATE KEY-----`,
    JSON.stringify({ body: { current: S, next: `a"${S}` } }),
    inspect({ current: S, next: S }),
    `https://files.example.com/a?X-Amz-Signature=${S}`,
    ...['stripeSecretKey', 'encryption_key', 'recovery_codes', 'ticket'].map((name) => `${name}=${S}`),
    ...['passwordConfirmation', 'password2', 'passwordRepeat', 'password_new', 'pass', 'reset_token'].map(
      (name) => `${name}=${S}`,
    ),
  ])
    it(`hides the secret of ${text.replaceAll(S, 'S')}`, () => {
      expect(redactText(text)).to.not.include(S)
    })

  for (const text of [
    'Invalid token: expired',
    'Unexpected token: end of input',
    'GET /notes?page=2 200 12 ms',
    'Listening on http://127.0.0.1:3000/@scope/package',
    'See https://example.com/@user and mail ada@example.com',
    'https://example.com:8080/users/@ada?mail=a@b.example',
    'http://[::1]:3000/@scope',
    'connect ECONNREFUSED 127.0.0.1:5432',
    'statusCode=404 code=ENOENT path=/a/b',
    '{"page":{"next":"/notes?page=3","current":"/notes?page=2","total":4}}',
    'Basic rules, bearer of news',
    '{ current: 2, next: 3 }',
    'a=>b, page%3D2, signatures: 5',
    'tokens: 5, passwordless: true, secretary: Ada',
  ])
    it(`leaves as it is: ${text}`, () => {
      expect(redactText(text)).to.equal(text)
    })

  it('hides the body of change-password, and shows the pages of a list', () => {
    expect(redact({ body: { current: S, next: S } })).to.deep.equal({
      body: { current: '[redacted]', next: '[redacted]' },
    })
    const page = { current: '/notes?page=2', next: '/notes?page=3', total: 4 }
    expect(redact(page)).to.deep.equal(page)
  })
})

describe('readableError', () => {
  const example = 'MAIL_TRANSPORT=smtp://user:password@mail.example.com:587'
  const error = new StartupError(`The brick 'a' failed to start: postgres://notes:${S}@db`, {
    code: 'A',
    remedy: `Set it in the environment, such as ${example}`,
  })
  const shown = `The brick 'a' failed to start: postgres://[redacted]@db\n  Remedy: Set it in the environment, such as ${example} [A]`

  it('hides the secrets of a StartupError, and shows the examples of its remedy', () => {
    expect(readableError(error)).to.equal(shown)
    expect(readableError(new StartupErrors('2 faults.', [error, error]))).to.equal(
      `2 faults.\n- ${shown}\n- ${shown}\n  Remedy: Fix each finding above. [MORTAR_SEVERAL_ERRORS]`,
    )
  })

  it('hides the secrets of another error in every line', () => {
    const text = `A\n  Remedy: postgres://notes:${S}@db`
    expect(readableError(new Error(text))).not.to.contain(S)
    expect(readableError(text)).not.to.contain(S)
  })
})
