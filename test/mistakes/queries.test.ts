import { expect } from 'chai'
import { withRoutes } from './folder-of-routes.ts'

const yup = import.meta.resolve('yup')
const zod = import.meta.resolve('zod')

const list = `import { array, number, object, string } from '${yup}'\n`
const files = {
  'routes/optional.get.js': `${list}export const query = object({ ids: array(number()), page: object({ size: number() }) })
export default (ctx) => ({ ids: ctx.query.ids ?? 'all' })\n`,
  'routes/required.get.js': `${list}export const query = object({ ids: array(number()).required() })
export default (ctx) => ctx.query\n`,
  'routes/zod.get.js': `import { z } from '${zod}'\nexport const query = z.object({ ids: z.array(z.string()).optional() })
export default () => ({})\n`,
  'routes/own.get.js': `${list}export const query = object({ ids: array(number()), 'ids[]': array(number()) })
export default (ctx) => ctx.query['ids[]']\n`,
  'routes/form.post.js': `${list}export const body = object({ tags: array(string()) })
export default (ctx) => ({ tags: ctx.body.tags ?? 'none' })\n`,
}

describe('A query name with brackets, as qs, axios and PHP send lists', () => {
  const warnings = (lines: readonly string[]) => lines.filter((line) => line.includes('brackets'))

  it('is named once per route and name if the schema declares the plain name', () =>
    withRoutes(files, async ({ get, lines }) => {
      for (const query of ['ids[]=1&ids[]=2', 'ids%5B%5D=3', 'page[size]=1'])
        expect((await get(`/optional?${query}`)).status).to.equal(200)
      expect(warnings(lines)).to.deep.equal([
        "GET /optional (routes/optional.get.js) ignores the query parameter 'ids[]': brackets are part of a name, and the schema declares 'ids'. Send ids=1&ids=2, or declare 'ids[]'.",
        "GET /optional (routes/optional.get.js) ignores the query parameter 'page[size]': brackets are part of a name, and the schema declares 'page'. Declare 'page[size]', or send another name.",
      ])
      expect((await get('/zod?ids[]=1')).status).to.equal(200)
      expect(warnings(lines)).to.have.length(3)
    }))

  it('is named in the response if the plain name is required', () =>
    withRoutes(files, async ({ app }) => {
      const { statusCode, body } = await app.inject({ method: 'GET', url: '/required?ids[]=1' })
      expect(statusCode).to.equal(422)
      expect(JSON.parse(body))
        .to.have.property('errors')
        .that.deep.equals([
          {
            location: 'query',
            path: 'ids',
            rule: 'required',
            message: "ids is a required field. The request has 'ids[]' instead: send ids=1&ids=2.",
          },
        ])
    }))

  it('is a name like any other if the schema declares it', () =>
    withRoutes(files, async ({ app, lines }) => {
      const { body } = await app.inject({ method: 'GET', url: '/own?ids[]=1&ids[]=2' })
      expect(JSON.parse(body)).to.deep.equal([1, 2])
      expect(warnings(lines)).to.deep.equal([])
    }))

  it('is named in a form, and ignored in JSON', () =>
    withRoutes(files, async ({ app, lines }) => {
      const post = (type: string, payload: string) =>
        app.inject({ method: 'POST', url: '/form', headers: { 'content-type': type }, payload })
      expect((await post('application/json', '{"tags[]":["a"]}')).statusCode).to.equal(200)
      expect(warnings(lines)).to.deep.equal([])
      expect((await post('application/x-www-form-urlencoded', 'tags[]=a')).statusCode).to.equal(200)
      expect(warnings(lines)).to.deep.equal([
        "POST /form (routes/form.post.js) ignores the form field 'tags[]': brackets are part of a name, and the schema declares 'tags'. Send tags=1&tags=2, or declare 'tags[]'.",
      ])
    }))
})
