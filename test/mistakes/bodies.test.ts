import { expect } from 'chai'
import { withRoutes } from './folder-of-routes.ts'

const yup = import.meta.resolve('yup')
const files = {
  'routes/plain.post.js': `export default (ctx) => ({ body: ctx.body ?? 'none' })\n`,
  'routes/unread.post.js': `export const consumes = []\nexport default () => ({})\n`,
  'routes/declared.post.js': `import { object } from '${yup}'\nexport const body = object()\nexport default () => ({})\n`,
}

describe('A body that is not read, because its media type is missing or unknown', () => {
  it('is named once if the route declares no body', () =>
    withRoutes(files, async ({ app, lines }) => {
      const post = (url: string, headers: Record<string, string>, payload = '{"a":1}') =>
        app.inject({ method: 'POST', url, headers, payload })
      for (const type of ['', 'image/png']) {
        const headers = type === '' ? {} : { 'content-type': type }
        expect((await post('/plain', headers)).json()).to.deep.equal({ body: 'none' })
      }
      expect((await post('/plain', {}, '')).statusCode).to.equal(200)
      expect((await post('/unread', {})).statusCode).to.equal(200)
      expect((await post('/declared', {})).statusCode).to.equal(415)
      expect((await post('/plain', { 'content-type': 'application/json' })).json()).to.deep.equal({
        body: { a: 1 },
      })
      expect(lines.filter((line) => line.includes('got a body'))).to.deep.equal([
        'POST /plain (routes/plain.post.js) got a body without Content-Type, which is not read, so ctx.body is undefined. Send it as application/json. If the route reads no body, or reads ctx.koa.req itself, declare `consumes: []`.',
      ])
    }))

  it('is named with its media type, and not before such a body arrives', () =>
    withRoutes(files, async ({ app, lines }) => {
      await app.inject({ method: 'POST', url: '/plain' })
      expect(lines.filter((line) => line.includes('got a body'))).to.deep.equal([])
      const headers = { 'content-type': 'image/png' }
      await app.inject({ method: 'POST', url: '/plain', headers, payload: 'png' })
      expect(lines.join()).to.contain("got a body of the media type 'image/png', which is not read")
    }))
})
