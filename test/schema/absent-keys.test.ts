import { createApp, createRouter } from 'mortar'
import { expect } from 'chai'
import { boolean, number, object, string } from 'yup'

// The type of an optional key is `key?: T` without undefined, which is true only if no key has the value undefined.
describe('The optional keys of a yup object', () => {
  const plain = object({ title: string().trim(), done: boolean(), place: object({ city: string() }) })
  const own = object({
    title: string().transform((value: string) => (value === '' ? undefined : value)),
    size: number().when('title', ([title], schema) => (title === undefined ? schema : schema.required())),
  })
  const app = createApp({ environment: 'test', logger: false }).use(
    createRouter()
      .post('/plain', { body: plain, query: object({ page: number() }) }, ({ body, query }) => [
        Object.keys(body),
        Object.keys(query),
      ])
      .post('/own', { body: own.noUnknown() }, ({ body }) => Object.keys(body)),
  )
  const keysOf = async (url: string, body: object): Promise<unknown> =>
    (await app.inject({ method: 'POST', url, body })).json()

  it('are absent if they were not sent', async () => {
    expect(await keysOf('/plain', {})).to.deep.equal([['place'], []])
    expect(await keysOf('/plain', { done: false })).to.deep.equal([['done', 'place'], []])
    expect(await keysOf('/own', {})).to.deep.equal([])
  })

  it('are absent if a transform makes them undefined', async () => {
    expect(await keysOf('/own', { title: '', size: 1 })).to.deep.equal(['size'])
  })
})
