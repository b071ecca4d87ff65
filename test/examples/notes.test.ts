import { Validator } from '@seriousme/openapi-schema-validator'
import { expect } from 'chai'
import { join } from 'node:path'
import { loadRoutes } from 'mortar'
import { createClient, signedIn } from 'mortar/testing'
import { app } from '../../examples/notes/app.ts'
import { ROOT } from '../architecture/tree.ts'
import { notesSuite } from './notes-suite.ts'

describe('the reference application', () => {
  const anybody = createClient(app)

  before(async () => {
    await loadRoutes(app, join(ROOT, 'examples/notes/routes'))
    await app.ready()
  })

  after(() => app.close())

  notesSuite(() => app)

  it('describes itself to everybody, and requires a sign-in for everything else', async () => {
    expect((await anybody.get('/')).body.name).to.equal('Notes')
    for (const [method, path] of [
      ['GET', '/notes'],
      ['POST', '/notes'],
      ['GET', '/notes/x'],
      ['PATCH', '/notes/x'],
      ['DELETE', '/notes/x'],
      ['GET', '/admin/stats'],
    ] as const) {
      const { status, headers } = await anybody.request(method, path, {
        body: method === 'GET' ? undefined : '{',
      })
      expect(status, `${method} ${path}`).to.equal(401)
      expect(headers['www-authenticate']).to.equal('Bearer')
    }
  })

  it('shows its statistics only to administrators', async () => {
    const user = await signedIn(app, { id: 'somebody', raw: { role: 'user' } })
    const refused = await user.get('/admin/stats')
    expect(refused.status).to.equal(403)
    expect(refused.body).to.include({ code: 'policy_denied', policy: 'admin' })

    const admin = await signedIn(app, { id: 'root', raw: { role: 'admin' } })
    const { status, body } = await admin.get('/admin/stats')
    expect(status).to.equal(200)
    expect(body).to.have.all.keys('users', 'notes')
  })

  it('gives nobody a role at sign-up', async () => {
    const client = createClient(app)
    const { body } = await client.post('/auth/signup', {
      name: 'Eve',
      email: 'eve@example.com',
      password: 'correct horse battery',
      role: 'admin',
    })
    const eve = client.withToken(body.accessToken)
    expect((await eve.get('/auth/me')).body.raw.role).to.equal('user')
    expect((await eve.get('/admin/stats')).status).to.equal(403)
  })

  it('describes all of its routes in a valid document, and shows them on a page', async () => {
    const { body: document } = await anybody.get('/openapi.json')
    const { valid, errors } = await new Validator().validate(document)
    expect(valid, JSON.stringify(errors)).to.equal(true)
    expect(document.openapi).to.match(/^3\.1\./)
    expect(document.info.title).to.equal('Notes')
    expect(Object.keys(document.paths)).to.include.members([
      '/notes',
      '/notes/{id}',
      '/admin/stats',
      '/auth/login',
    ])
    expect(document.paths['/admin/stats'].get['x-policies']).to.deep.equal(['admin'])
    expect(Object.keys(document.paths).filter((path) => path.startsWith('/_framework'))).to.deep.equal([])

    const { example } = document.paths['/auth/signup'].post.requestBody.content['application/json']
    expect((await anybody.post('/auth/signup', example)).status).to.equal(201)

    const page = await anybody.get('/docs', { headers: { accept: 'text/html' } })
    expect(page.status).to.equal(200)
    expect(page.headers['content-type']).to.contain('text/html')
    expect(page.text).to.contain('Notes')
  })

  it('shows its mail as a page and as JSON', async () => {
    const page = await anybody.get('/_framework/mail', { headers: { accept: 'text/html' } })
    expect(page.headers).to.include({ 'cache-control': 'no-store' })
    expect(page.text).to.match(/^<!doctype html>/i)
    const list = await anybody.get('/_framework/mail', { headers: { accept: 'application/json' } })
    expect(list.body.messages).to.be.an('array')
  })
})
