import { expect } from 'chai'

it('sees no variable of an application', () => {
  const { NODE_ENV, PORT, DATABASE_URL, AUTH_SECRET, PGHOST } = process.env
  expect({ NODE_ENV, PORT, DATABASE_URL, AUTH_SECRET, PGHOST }).to.deep.equal({
    NODE_ENV: 'test',
    PORT: undefined,
    DATABASE_URL: undefined,
    AUTH_SECRET: undefined,
    PGHOST: undefined,
  })
})

it('sees the time zone and the servers of the run', () => {
  expect(process.env['TZ']).to.equal('America/St_Johns')
  expect(process.env['TEST_REDIS_URL']).to.equal('redis://127.0.0.1:1')
})
