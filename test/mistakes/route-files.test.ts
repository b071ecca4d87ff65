import { expect } from 'chai'
import { StartupErrors } from 'mortar'
import { startupErrorOf } from '../support/startup-error-of.ts'
import { withRoutes } from './folder-of-routes.ts'

const OK = `export default () => 'ok'\n`

/** Files of an application, with the beginning of the path, the message and the remedy of the one finding. */
const FINDINGS: Readonly<
  Record<
    string,
    { readonly files: Readonly<Record<string, string>>; readonly says: RegExp; readonly remedy: RegExp }
  >
> = {
  'a missing export that several files need': {
    files: {
      'words.js': 'export const A = 1\n',
      'inner.js': `import { A,\n  STATUSES } from './words.js'\nexport const inner = [A, STATUSES]\n`,
      'routes/a.get.js': `import { inner } from '../inner.js'\nexport default () => inner\n`,
      'routes/b.get.js': `import { inner } from '../inner.js'\nexport default () => inner\n`,
    },
    says: /routes\/a\.get\.js and \S+routes\/b\.get\.js cannot be imported: \S+inner\.js:2 imports STATUSES from '\.\/words\.js', which does not export it\.$/,
    remedy:
      /^Export STATUSES from '\.\/words\.js', or correct the import\. Import a type with `import type`\.$/,
  },
  'a missing default export of another file': {
    files: {
      'words.js': 'export const A = 1\n',
      'routes/a.get.js': `import words from '../words.js'\nexport default () => words\n`,
    },
    says: /\S+routes\/a\.get\.js:1 imports the default export of '\.\.\/words\.js', which has none\.$/,
    remedy: /^Import a name in braces/,
  },
  'an import of a file that does not exist': {
    files: { 'routes/a.get.js': `import { A } from '../wrods.js'\nexport default () => A\n` },
    says: /routes\/a\.get\.js cannot be imported: \S+routes\/a\.get\.js imports \S+\/wrods\.js, which does not exist\.$/,
    remedy: /^Correct the path\./,
  },
  'an error while a module runs': {
    files: {
      'routes/a.get.js': `const limit = undefined\nexport const most = limit.value\nexport default () => 'ok'\n`,
    },
    says: /routes\/a\.get\.js cannot be imported \(TypeError: .+, at \S+routes\/a\.get\.js:2:27\)\.$/,
    remedy: /^Fix the module at the place that the message names\.$/,
  },
  'a handler named by its method, as in Next.js and SvelteKit': {
    files: { 'routes/a.get.js': `export async function GET() { return 'ok' }\n` },
    says: /routes\/a\.get\.js has no default export\.$/,
    remedy:
      /^Write `export default` in place of .*`export function GET`: the method is in the name of the file\.$/,
  },
  'a controller class': {
    files: { 'routes/a.get.js': `export default class Controller { list() {} }\n` },
    says: /routes\/a\.get\.js has a class as its default export, which is not a handler\.$/,
    remedy: /^Export a function \(ctx\) => …; a class can be a service of app\.provide\(\)\.$/,
  },
  'an instance of a controller': {
    files: { 'routes/a.get.js': `class Controller { list() {} }\nexport default new Controller()\n` },
    says: /routes\/a\.get\.js has an object as its default export, which is not a handler\.$/,
    remedy: /^Export a function \(ctx\) => …/,
  },
  'no method in the name': {
    files: { 'routes/health.js': OK },
    says: /routes\/health\.js has no method in its name\.$/,
    remedy: /health\.get\.js/,
  },
}

/** Names of route files in other frameworks, with the name that the message gives. */
const FOREIGN_NAMES: Readonly<Record<string, string>> = {
  '$id.js': '[id].get.js',
  '[id].js': '[id].get.js',
  'id.js': 'id.get.js',
  ':id.js': '[id].get.js',
  ':id.get.js': '[id]',
  '{id}.get.js': '[id]',
  '<id>.js': '[id].get.js',
  '+server.js': 'index.get.js',
  'users/+page.server.js': 'index.get.js',
  'users/route.js': 'index.get.js',
  'users/[id]/page.jsx': 'index.get.jsx',
  'users/GET.js': 'index.get.js',
  'users/post.js': 'index.post.js',
  'users.controller.js': 'users.get.js',
  'users.route.js': 'users.get.js',
  '$.js': '[...path].get.js',
  '*.get.js': '[...path]',
  '[[id]].get.js': '[id]',
}

describe('A file name of another framework', () => {
  for (const [name, right] of Object.entries(FOREIGN_NAMES))
    it(`is an error that names the right name: ${name} is ${right}`, async () => {
      const error = await startupErrorOf(() => withRoutes({ [`routes/${name}`]: OK }, async () => undefined))
      const errors = error instanceof StartupErrors ? error.errors : [error]
      expect(errors[0]!.found).to.include(`routes/${name} `)
      expect(errors.map(({ remedy }) => remedy).join('\n')).to.include(right)
    })

  it('is one finding if both its parameter and its method are wrong', async () => {
    for (const name of [':id.js', '{id}.js']) {
      const error = await startupErrorOf(() => withRoutes({ [`routes/${name}`]: OK }, async () => undefined))
      expect((error as StartupErrors).errors).to.have.length(1)
    }
  })

  it('is a warning if the name is a valid path', () => {
    const files = {
      'routes/$id.get.js': OK,
      'routes/users.$name.get.js': OK,
      'routes/notes/$id/lines.get.js': OK,
      'routes/<slug>.get.js': OK,
      'routes/+server.get.js': OK,
      'routes/price$.get.js': OK,
    }
    return withRoutes(files, async ({ lines }) => {
      expect(lines).to.deep.equal([
        'routes/$id.get.js has "$id" in its path as it is; did you mean "[id]"?',
        'routes/+server.get.js has "+server" in its path as it is; did you mean "index"?',
        'routes/<slug>.get.js has "<slug>" in its path as it is; did you mean "[slug]"?',
        'routes/notes/$id/lines.get.js has "$id" in its path as it is; did you mean "[id]"?',
        'routes/users.$name.get.js has "users.$name" in its path as it is; did you mean "users/[name]"?',
      ])
    })
  })
})

describe('A mistake in a route file', () => {
  for (const [name, { files, says, remedy }] of Object.entries(FINDINGS))
    it(`is one finding with the path of the file and the remedy: ${name}`, async () => {
      const error = await startupErrorOf(() => withRoutes(files, async () => undefined))
      expect(error).to.be.instanceOf(StartupErrors)
      expect((error as StartupErrors).errors).to.have.length(1)
      expect(error.found).to.match(says)
      expect(error.remedy).to.match(remedy)
      expect(error.message).to.not.match(/MORTAR_SEVERAL_ERRORS|broken convention/)
    })

  it('is listed with the other mistakes of the directory when there are several', async () => {
    const error = await startupErrorOf(() =>
      withRoutes({ 'routes/health.js': OK, 'routes/live.GET.js': OK }, async () => undefined),
    )
    expect(error.code).to.equal('MORTAR_SEVERAL_ERRORS')
    expect(error.message).to.match(
      /^2 broken conventions in the routes of [^]+\/health\.js[^]+\/live\.GET\.js/,
    )
  })
})

describe('A handler from another framework', () => {
  const files = {
    'routes/express.get.js': `export default (req, res) => res.json({ ok: true })\n`,
    'routes/koa.get.js': `export default async (ctx) => { ctx.body = { ok: true } }\n`,
    'routes/response.get.js': `export default (ctx) => { ctx.response.body = 'ok' }\n`,
    'routes/state.get.js': `export default (ctx) => ctx.state.user\n`,
    'routes/string.get.js': `export default () => { throw 'oh no' }\n`,
    'routes/object.get.js': `export default () => { throw { status: 404, message: 'nope', token: 'hidden' } }\n`,
    'routes/keys.get.js': `export default () => { throw { status: 404, token: 'hidden' } }\n`,
    'routes/class.get.js': `class Missing extends Error {}\nexport default () => { throw new Missing('gone') }\n`,
    'routes/json.get.js': `export default (ctx) => ctx.json({})\n`,
    'routes/send.get.js': `export default (ctx) => ctx.send('x')\n`,
    'routes/koa-throw.get.js': `export default (ctx) => ctx.throw(404)\n`,
    'routes/header.get.js': `export default (ctx) => ctx.header('a', 'b')\n`,
    'routes/class-of-error.get.js': `export default () => class Missing extends Error {}\n`,
    'routes/factory.get.js': `export default () => (ctx) => ctx\n`,
    'routes/http-errors.get.js': `export default () => { throw Object.assign(new Error('gone'), { statusCode: 410 }) }\n`,
    'routes/nest.get.js': `class Gone extends Error { status = 410 }\nexport default () => { throw new Gone('gone') }\n`,
    'routes/express/_middleware.js': `export default (req, res, next) => { next() }\n`,
    'routes/express/a.get.js': OK,
    'routes/method.get.js': `export const post = () => 1\nexport const auto = 1\nexport default () => 2\n`,
    'routes/plain.get.js': `export default () => { throw new Error('Note not found') }\n`,
    'routes/error.get.js': `export default () => new Error('gone')\n`,
    'routes/promise.get.js': `export default () => ({ items: [{ n: Promise.resolve(1) }] })\n`,
    'routes/skipped/_middleware.js': `export default () => {}\n`,
    'routes/skipped/a.get.js': OK,
    'routes/lost/_middleware.js': `export default (ctx, next) => { next() }\n`,
    'routes/lost/a.get.js': OK,
    'routes/created-response.get.js': `export { response } from './created.get.js'
export default () => Response.json({}, { status: 202 })
`,
    'routes/created-ok.get.js': `export { response } from './created.get.js'
export default (ctx) => {
  ctx.status = 200
  return { chosen: true }
}`,
    'routes/created.get.js': `import { object } from '${import.meta.resolve('yup')}'
export const response = { 201: object(), 404: object() }
export default () => ({})
`,
    'routes/status/_middleware.js': `export default (ctx) => { ctx.status = 204 }\n`,
    'routes/status/a.get.js': OK,
  }

  it('is reported at the start if it takes (req, res), and with its file and remedy at the request else', () =>
    withRoutes(files, async ({ get, lines }) => {
      expect(lines.filter((line) => /parameters|nothing calls|auto/.test(line))).to.deep.equal([
        'routes/express.get.js has a handler with 2 parameters, but a handler gets ctx alone: write (ctx) => … and return the response.',
        'routes/express/_middleware.js has middleware with 3 parameters, but middleware gets (ctx, next): Express middleware (req, res, next) does not run here.',
        'routes/method.get.js exports "post", which nothing calls: the method is in the name of the file.',
      ])
      const koa = await get('/koa')
      expect(koa.status).to.equal(500)
      expect(koa.detail).to.equal(
        'The handler of GET /koa (routes/koa.get.js) set ctx.body and returned nothing. ctx.body is the body of the request: return the body of the response from the handler.',
      )
      const response = await get('/response')
      expect(response).to.include({ status: 500, origin: 'routes/response.get.js' })
      expect(response.detail).to.match(/^ctx\.response does not exist\. Return the value from the handler/)
      expect((await get('/state')).detail).to.match(/^ctx\.state does not exist\. .*ctx\.koa\.state\.$/)
    }))

  it('is named with the remedy if it calls a method of the context of Hono, Express or Koa', () =>
    withRoutes(files, async ({ get }) => {
      expect((await get('/json')).detail).to.equal(
        'ctx.json does not exist. Return the value from the handler, and set ctx.status.',
      )
      expect((await get('/send')).detail).to.match(/^ctx\.send does not exist\. Return the value/)
      expect((await get('/koa-throw')).detail).to.match(
        /^ctx\.throw does not exist\. .*throw new NotFound\(\)/,
      )
      expect((await get('/header')).detail).to.match(
        /^ctx\.header does not exist\. .*ctx\.set\(name, value\)/,
      )
    }))

  it('is named with the remedy if it throws an error with a status that is ignored', () =>
    withRoutes(files, async ({ get }) => {
      for (const path of ['/http-errors', '/nest']) {
        const { status, hint } = await get(path)
        expect({ status, hint }, path).to.deep.equal({
          status: 500,
          hint: 'The status 410 of this error is ignored. To set the status, throw an HttpError of mortar, such as NotFound (404).',
        })
      }
    }))

  it('keeps the text of a thrown string, the message of a thrown object and the name of a class in the log', () =>
    withRoutes(files, async ({ get, lines }) => {
      for (const path of ['/string', '/object', '/keys', '/class'])
        expect((await get(path)).status).to.equal(500)
      const log = lines.join('\n')
      expect(log).to.include('string: A value that is not an Error was thrown: "oh no". Throw an Error')
      expect(log).to.include(
        'object: A value that is not an Error was thrown: an object with the message "nope".',
      )
      expect(log).to.include(
        'object: A value that is not an Error was thrown: an object with the keys status, token.',
      )
      expect(log).to.include('Missing: gone')
      expect(log).to.not.include('hidden')
      expect((await get('/string')).origin).to.equal('routes/string.get.js')
      expect((await get('/plain')).hint).to.equal(
        'A plain Error is a 500. To set the status, throw NotFound (404) of mortar.',
      )
      expect((await get('/class')).hint).to.equal(undefined)
    }))

  it('names the file and the path of a value that cannot be sent', () =>
    withRoutes(files, async ({ get }) => {
      expect((await get('/error')).detail).to.equal(
        'The value that GET /error (routes/error.get.js) returned cannot be sent as JSON: it is an Error. Throw it, or return its message.',
      )
      expect((await get('/class-of-error')).detail).to.equal(
        'The value that GET /class-of-error (routes/class-of-error.get.js) returned cannot be sent as JSON: it is the class Missing. Throw an instance: throw new Missing().',
      )
      expect((await get('/factory')).detail).to.equal(
        'The value that GET /factory (routes/factory.get.js) returned cannot be sent as JSON: it is a function. Call it and return its result. Middleware that returns a function is a factory: call the factory.',
      )
      expect((await get('/promise')).detail).to.equal(
        'The value that GET /promise (routes/promise.get.js) returned cannot be sent as JSON: items[0].n is a Promise. Await it first.',
      )
    }))

  it('is named when it loses the response of its routes', () =>
    withRoutes(files, async ({ get, lines }) => {
      expect((await get('/lost/a')).detail).to.match(
        /^next\(\) was called in routes\/lost\/_middleware\.js and neither/,
      )
      for (let times = 0; times < 2; times++) expect((await get('/skipped/a')).status).to.equal(204)
      expect((await get('/status/a')).status).to.equal(204)
      expect(lines.filter((line) => line.includes('neither called next()'))).to.deep.equal([
        "routes/skipped/_middleware.js neither called next() nor returned a value, so GET /skipped/a has an empty response. Write 'return next()', or set ctx.status if the empty response is intended.",
      ])
    }))

  it('is not named for a web Response, which has a status of its own', () =>
    withRoutes(files, async ({ get, lines }) => {
      expect((await get('/created-response')).status).to.equal(202)
      expect(lines.filter((line) => line.includes('does not declare'))).to.deep.equal([])
    }))

  it('is not named for a 200 that the handler has set', () =>
    withRoutes(files, async ({ get, lines }) => {
      expect((await get('/created-ok')).status).to.equal(200)
      expect(lines.filter((line) => line.includes('does not declare'))).to.deep.equal([])
    }))

  it('is named once if it sends a value as 200 that only has a schema for 201', () =>
    withRoutes(files, async ({ get, lines }) => {
      for (let times = 0; times < 2; times++) expect((await get('/created')).status).to.equal(200)
      expect(lines.filter((line) => line.includes('/created') && !line.includes(' ms'))).to.deep.equal([
        'GET /created (routes/created.get.js) sends 200, which `response` does not declare, so the value is not checked. Set ctx.status = 201, or return reply(ctx, 201, …).',
      ])
    }))
})
