import { expect } from 'chai'
import { createApp, createRouter, type Logger } from 'mortar'
import { object, string, type Schema } from 'yup'
import { UNREADABLE } from '../support/unreadable-error.ts'

const later = async <T>(value: T): Promise<T> => {
  await Promise.resolve()
  return value
}

const failing = (): never => {
  throw new Error('A message that cannot be made.')
}

const unreadable = (): never => {
  throw UNREADABLE
}

/** Tests of an application that yup itself cannot evaluate. */
const FAILING: Readonly<Record<string, Schema>> = {
  'an error that cannot be read': string().test('own', 'no', () => later(true).then(unreadable)),
  'no message': string().test('own', failing, () => later(false)),
  'no message, in a list of members': object({ inner: string().test('own', failing, () => later(false)) }),
  'no message, after another test': object({ inner: string().test('own', failing, () => false) }).test(
    'other',
    'no',
    () => later(true),
  ),
}

describe('A body with a test that has', () => {
  for (const [what, schema] of Object.entries(FAILING))
    it(`${what}, is a 500 with one line in the log`, async () => {
      const errors: unknown[] = []
      const quiet = () => {}
      const error = (fields: unknown) => void errors.push(fields)
      const logger: Logger = { debug: quiet, info: quiet, warn: quiet, error, child: () => logger }
      const router = createRouter().post('/', { body: object({ given: schema }) }, () => 'accepted')
      const app = createApp({ logger }).use(router)
      const payload = { given: schema.type === 'object' ? { inner: 'text' } : 'text' }
      expect((await app.inject({ method: 'POST', url: '/', payload })).statusCode).to.equal(500)
      expect(errors).to.have.length(1)
      await app.close()
    })
})
