import { expect } from 'chai'
import { createApp, createRouter, NotFound, StartupError } from 'mortar'
import { object, string } from 'yup'
import { throughBothAdapters } from '../support/adapters.ts'
import { bearer, tokens } from '../support/tokens-brick.ts'

const titled = object({ title: string().required() })

const POLICIES = {
  admin: (user) => user.raw['role'] === 'admin',
  truthy: () => 1 as unknown as boolean,
  later: async (user) => user.id === 'asyncAda',
  hidden: () => {
    throw new NotFound('There is no such thing.')
  },
  faulty: () => {
    throw new TypeError('policy bug')
  },
  self: (user, ctx) => ctx.params['id'] === user.id,
} satisfies Parameters<typeof tokens>[0]

describe('The guard', () => {
  throughBothAdapters((open) => {
    const calls: string[] = []
    beforeEach(() => void calls.splice(0))
    const routes = () =>
      createRouter()
        .post('/public', () => void calls.push('public'))
        .get('/public', (ctx) => ({ user: ctx.user?.id ?? null }))
        .get('/mine', { auth: true }, (ctx) => ({ user: ctx.user.id }))
        .post('/mine', { auth: true, body: titled }, () => void calls.push('mine'))
        .post('/admin', { auth: 'admin', body: titled }, () => void calls.push('admin'))
        .get('/both', { auth: ['admin', 'later'] }, () => void calls.push('both'))
        .get('/turned', { auth: ['later', 'admin'] }, () => void calls.push('turned'))
        .get('/thrice', { auth: ['later', 'later', 'truthy'] }, () => void calls.push('thrice'))
        .get('/truthy', { auth: 'truthy' }, () => void calls.push('truthy'))
        .get('/later', { auth: 'later' }, () => 'in')
        .get('/hidden', { auth: 'hidden' }, () => void calls.push('hidden'))
        .get('/faulty', { auth: 'faulty' }, () => void calls.push('faulty'))
        .get('/users/:id', { auth: 'self' }, (ctx) => ctx.params['id'])
    const serve = () => open(createApp().use(tokens(POLICIES)).use(routes()))

    it('responds with 401 and a plain challenge when no credential was sent', async () => {
      const { fetch } = await serve()
      const response = await fetch('/mine')
      expect(response.status).to.equal(401)
      expect(response.headers.get('www-authenticate')).to.equal('Bearer')
      expect(await response.json()).to.include({ code: 'unauthorized', status: 401 })
    })

    it('sends invalid_token only when a token was sent', async () => {
      const { fetch } = await serve()
      const response = await fetch('/mine', { headers: bearer('bad') })
      expect(response.status).to.equal(401)
      expect(response.headers.get('www-authenticate')).to.equal('Bearer error="invalid_token"')
    })

    it('admits a signed-in user, whether the provider returns a value or a promise', async () => {
      const { fetch } = await serve()
      for (const id of ['ada', 'asyncAda'])
        expect(await (await fetch('/mine', { headers: bearer(id) })).json()).to.deep.equal({ user: id })
    })

    it('resolves the user on public routes; the user is null without a credential', async () => {
      const { fetch } = await serve()
      const user = async (headers?: Record<string, string>) =>
        ((await (await fetch('/public', headers ? { headers } : {})).json()) as { user: unknown }).user
      expect(await user()).to.equal(null)
      expect(await user(bearer('bad'))).to.equal(null)
      expect(await user(bearer('broken'))).to.equal(null)
      expect(await user(bearer('ada'))).to.equal('ada')
    })

    it('rejects everything but a user object from the provider', async () => {
      for (const answer of [undefined, false, true, 'ada', 0, 5]) {
        const app = createApp().use(tokens({}, { identify: () => answer as never }))
        const { fetch } = await open(app.use(createRouter().get('/', { auth: true }, () => 'secret')))
        expect((await fetch('/', { headers: bearer('ada') })).status, String(answer)).to.equal(401)
      }
    })

    it('refuses a request if it cannot be evaluated', async () => {
      const { fetch } = await serve()
      expect((await fetch('/mine', { headers: bearer('broken') })).status).to.equal(500)
    })

    it('decides before a body is parsed or validated', async () => {
      const { fetch } = await serve()
      const send = (path: string, headers: Record<string, string>) =>
        fetch(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: '{"broken',
        })
      expect((await send('/mine', {})).status).to.equal(401)
      expect((await send('/admin', bearer('ada'))).status).to.equal(403)
      expect((await send('/admin', bearer('admin'))).status).to.equal(400)
      expect(calls).to.deep.equal([])
    })

    it('names the policy in a 403 and accepts only true from a policy', async () => {
      const { fetch } = await serve()
      const response = await fetch('/truthy', { headers: bearer('ada') })
      expect(response.status).to.equal(403)
      expect(await response.json()).to.include({ code: 'policy_denied', policy: 'truthy' })
      expect(calls).to.deep.equal([])
    })

    it('requires all policies of a list', async () => {
      const { fetch } = await serve()
      for (const path of ['/both', '/turned', '/thrice'])
        for (const id of ['asyncAda', 'admin'])
          expect((await fetch(path, { headers: bearer(id) })).status, `${path} ${id}`).to.equal(403)
      expect(calls).to.deep.equal([])
      expect((await fetch('/later', { headers: bearer('asyncAda') })).status).to.equal(200)
    })

    it('keeps the status of an HttpError that a policy throws; any other error is 500', async () => {
      const { fetch } = await serve()
      expect((await fetch('/hidden', { headers: bearer('ada') })).status).to.equal(404)
      expect((await fetch('/faulty', { headers: bearer('ada') })).status).to.equal(500)
      expect(calls).to.deep.equal([])
    })

    it('gives policies the raw parameters of the path', async () => {
      const { fetch } = await serve()
      expect((await fetch('/users/ada', { headers: bearer('ada') })).status).to.equal(200)
      expect((await fetch('/users/ada', { headers: bearer('bob') })).status).to.equal(403)
    })

    it('guards HEAD like GET; OPTIONS sends only Allow', async () => {
      const { fetch } = await serve()
      expect((await fetch('/mine', { method: 'HEAD' })).status).to.equal(401)
      const options = await fetch('/mine', { method: 'OPTIONS' })
      expect(options.status).to.equal(204)
      expect(options.headers.get('allow')).to.equal('GET, HEAD, POST, OPTIONS')
    })

    it('responds with 404 and 405 before any authentication', async () => {
      const { fetch } = await serve()
      expect((await fetch('/nowhere', { headers: bearer('bad') })).status).to.equal(404)
      expect((await fetch('/mine', { method: 'DELETE' })).status).to.equal(405)
    })

    it('prefers the header to the cookie and the cookie to the query, without fall-back', async () => {
      const { fetch } = await serve()
      const user = async (path: string, headers: Record<string, string>) =>
        ((await (await fetch(path, { headers })).json()) as { user?: unknown }).user
      expect(await user('/mine?access_token=q', { ...bearer('h'), cookie: 'access_token=c' })).to.equal('h')
      expect(await user('/mine?access_token=q', { cookie: 'access_token=c' })).to.equal('c')
      expect(await user('/mine?access_token=q', {})).to.equal('q')
      expect((await fetch('/mine?access_token=q', { headers: bearer('bad') })).status).to.equal(401)
    })

    it('refuses a cross-site request that is authenticated by a cookie', async () => {
      const { fetch } = await serve()
      const status = async (headers: Record<string, string>, path = '/mine') => {
        const cookie = { 'content-type': 'application/json', cookie: 'access_token=ada' }
        const sent = { method: 'POST', headers: { ...cookie, ...headers }, body: '{"title":"x"}' }
        return (await fetch(path, sent)).status
      }
      expect(await status({ 'sec-fetch-site': 'cross-site' }, '/public')).to.equal(403)
      expect(calls).to.deep.equal([])
      expect(await status({ 'sec-fetch-site': 'cross-site', cookie: '' }, '/public')).to.equal(204)
      expect(await status({ 'sec-fetch-site': 'cross-site' })).to.equal(403)
      expect(await status({ 'sec-fetch-site': 'same-site' })).to.equal(403)
      expect(await status({ origin: 'https://evil.example' })).to.equal(403)
      expect(await status({ origin: 'null' })).to.equal(403)
      expect(await status({ 'sec-fetch-site': 'same-origin' })).to.equal(204)
      expect(await status({ 'sec-fetch-site': 'none' })).to.equal(204)
      expect(await status({})).to.equal(204)
      expect(await status({ ...bearer('ada'), 'sec-fetch-site': 'cross-site' })).to.equal(204)
    })
  })

  describe('at boot', () => {
    const boot = async (app: { ready(): Promise<unknown> }): Promise<StartupError> => {
      try {
        await app.ready()
      } catch (error) {
        return error as StartupError
      }
      throw new Error('The application started.')
    }

    it('refuses auth without a brick that authenticates', async () => {
      const error = await boot(createApp().use(createRouter().get('/a', { auth: true }, () => 1)))
      expect(error).to.be.instanceOf(StartupError)
      expect(error.code).to.equal('MORTAR_AUTH_MISSING')
    })

    it('rejects a policy with the name of a member of every object', async () => {
      for (const name of ['constructor', 'toString', '__proto__']) {
        const app = createApp().use(tokens({ admin: () => true }))
        const error = await boot(app.use(createRouter().get('/a', { auth: name }, () => 1)))
        expect(error.code, name).to.equal('MORTAR_POLICY_UNKNOWN')
      }
    })

    it('rejects an unknown policy and suggests the similar name', async () => {
      const app = createApp().use(tokens({ admin: () => true }))
      const error = await boot(app.use(createRouter().get('/a', { auth: 'admim' }, () => 1)))
      expect(error.code).to.equal('MORTAR_POLICY_UNKNOWN')
      expect(error.message).to.contain("Did you mean 'admin'?")
    })

    it('rejects an unknown shape, and reports every route in one run', async () => {
      const router = createRouter()
        .get('/a', { auth: 1 as never }, () => 1)
        .get('/b', { auth: [] }, () => 1)
        .get('/c', { auth: '' }, () => 1)
      const error = await boot(createApp().use(tokens()).use(router))
      expect(error.code).to.equal('MORTAR_SEVERAL_ERRORS')
      expect(error.message.match(/MORTAR_ROUTE_AUTH/g)).to.have.length(3)
    })

    it('does not become public when a request arrives after a failed start', async () => {
      const app = createApp().use(createRouter().get('/a', { auth: true }, () => 'secret'))
      await boot(app)
      const answer = await app.inject('/a').catch((error: unknown) => error)
      expect(answer).to.be.instanceOf(StartupError)
    })

    it('refuses a late route whose guard cannot be evaluated', async () => {
      const app = createApp().use(tokens())
      await app.ready()
      expect(() => app.use(createRouter().get('/late', { auth: 'nope' }, () => 'secret'))).to.throw(
        StartupError,
      )
      expect((await app.inject('/late')).statusCode).to.equal(404)
      await app.close()
    })
  })
})
