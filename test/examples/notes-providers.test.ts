import { expect } from 'chai'
import { createClient, type Injectable, type TestClient } from 'mortar/testing'
import { AUDIENCE, signingKey, startKeyServer } from '../plugins/auth/hosted/support/key-server.ts'
import { MONGO_TARGETS, openDatabase } from '../support/mongo.ts'
import { overHttp } from './over-http.ts'
import { startCopiedNotes } from './running-notes.ts'

/** Checks the notes, with any provider that authenticates their owners. */
async function expectNotes(app: Injectable, ada: TestClient, bob: TestClient): Promise<void> {
  expect((await createClient(app).get('/notes')).status).to.equal(401)
  const { status, body: note } = await ada.post('/notes', { title: 'Milk', text: 'Two bottles' })
  expect(status).to.equal(201)
  expect((await ada.get(`/notes/${note.id}`)).body.title).to.equal('Milk')
  expect((await bob.get(`/notes/${note.id}`)).status).to.equal(404)
  expect((await bob.get('/notes')).body).to.deep.equal({ notes: [], total: 0 })
  const refused = await ada.get('/admin/stats')
  expect([refused.status, refused.body.policy]).to.deep.equal([403, 'admin'])
}

describe('the reference application', function () {
  it('with AUTH_PROVIDER=hosted serves users whom another server signed in', async () => {
    const key = await signingKey('one')
    const server = await startKeyServer([key], Date.now)
    const notes = await startCopiedNotes({
      AUTH_PROVIDER: 'hosted',
      AUTH_ISSUER: server.issuer,
      AUTH_AUDIENCE: AUDIENCE,
    })
    try {
      const app = overHttp(notes.url)
      const signedIn = async (claims: object) =>
        createClient(app).withToken(await server.token(key, { ...claims }))
      // The provider chooses the ids; they are not rows of this database.
      await expectNotes(
        app,
        await signedIn({ sub: `auth0|${'a'.repeat(60)}` }),
        await signedIn({ sub: 'bob' }),
      )
      const admin = await signedIn({ sub: 'root', role: 'admin' })
      expect((await admin.get('/admin/stats')).body).to.deep.equal({ users: 0, notes: 1 })
      expect((await createClient(app).post('/auth/login', {})).status).to.equal(404)
    } finally {
      await notes.stop()
      await server.close()
    }
  })

  it('with AUTH_PROVIDER=document keeps its accounts in a document database', async () => {
    // The real server if there is one; its address may end with a database or with options.
    const server = await MONGO_TARGETS.at(-1)!.start()
    const { name: database, close } = await openDatabase(server)
    const address = new URL(server.url)
    address.pathname = `/${database}`
    const notes = await startCopiedNotes({ AUTH_PROVIDER: 'document', MONGODB_URL: address.href })
    try {
      const app = overHttp(notes.url)
      const signUp = async (name: string): Promise<TestClient> => {
        const account = { name, email: `${name}@example.com`, password: 'correct horse battery' }
        const { status, body } = await createClient(app).post('/auth/signup', account)
        expect(status).to.equal(201)
        return createClient(app).withToken(body.accessToken)
      }
      const ada = await signUp('ada')
      await expectNotes(app, ada, await signUp('bob'))
      expect((await ada.get('/auth/me')).body.raw.role).to.equal('user')
    } finally {
      expect(await notes.stop()).to.equal(0)
      await close()
      await server.close()
    }
  })

  it('with AUTH_PROVIDER=library signs people in with better-auth on its own database', async () => {
    const notes = await startCopiedNotes({ AUTH_PROVIDER: 'library' })
    try {
      const app = overHttp(notes.url)
      const signUp = async (name: string, more = {}): Promise<TestClient> => {
        const client = createClient(app, { origin: notes.url, headers: { origin: notes.url } })
        const account = { name, email: `${name}@example.com`, password: 'correct horse battery', ...more }
        expect((await client.post('/auth/sign-up/email', account)).status).to.equal(200)
        return client
      }
      const [ada, bob] = [await signUp('ada'), await signUp('bob')]
      // Users cannot give themselves a role.
      expect((await (await signUp('eve', { role: 'admin' })).get('/admin/stats')).status).to.equal(403)
      await expectNotes(app, ada, bob)
      expect((await ada.post('/auth/sign-out', {})).status).to.equal(200)
      expect((await ada.get('/notes')).status).to.equal(401)
      const again = { email: 'ada@example.com', password: 'correct horse battery' }
      expect((await ada.post('/auth/sign-in/email', again)).status).to.equal(200)
      expect((await ada.get('/notes')).body.total).to.equal(1)
    } finally {
      expect(await notes.stop()).to.equal(0)
    }
  })

  it('reports the variables that a hosted provider needs', async () => {
    const error = await startCopiedNotes({ AUTH_PROVIDER: 'hosted' }).then(
      () => '',
      (failure: Error) => failure.message,
    )
    expect(error).to.contain('AUTH_ISSUER').and.contain('AUTH_AUDIENCE')
  })
})
