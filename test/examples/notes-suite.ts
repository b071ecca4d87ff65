import { expect } from 'chai'
import { createClient, mailbox, tokenIn, type Injectable, type TestClient } from 'mortar/testing'

let people = 0

/** Somebody with an account of their own; notes belong to a row of `auth_users`. */
async function signUp(app: Injectable): Promise<{ client: TestClient; email: string }> {
  const email = `person${(people += 1)}@example.com`
  const client = createClient(app)
  const { status, body } = await client.post('/auth/signup', {
    name: 'Person',
    email,
    password: 'correct horse battery',
  })
  expect(status).to.equal(201)
  return { client: client.withToken(body.accessToken), email }
}

async function write(client: TestClient, title: string): Promise<string> {
  const { status, headers, body } = await client.post('/notes', { title, text: `About ${title}` })
  expect(status).to.equal(201)
  expect(headers['location']).to.equal(`/notes/${body.id}`)
  return body.id
}

const titles = (body: { notes: { title: string }[] }): string[] => body.notes.map(({ title }) => title)

/** Tests of the reference application on any database. Declares them inside a `describe`. */
export function notesSuite(application: () => Injectable): void {
  it('keeps notes: writes, reads, lists newest first, changes, deletes', async () => {
    const { client } = await signUp(application())
    const milk = await write(client, 'Milk')
    await write(client, 'Bread')

    const { body: note } = await client.get(`/notes/${milk}`)
    expect(note).to.include({ id: milk, title: 'Milk', text: 'About Milk', archived: false })
    expect(note).to.have.all.keys('id', 'title', 'text', 'archived', 'created_at', 'updated_at')
    expect(Math.abs(Date.parse(note.created_at) - Date.now())).to.be.below(60_000)
    expect((await client.get('/notes')).body.total).to.equal(2)

    const changed = await client.patch(`/notes/${milk}`, { title: 'Oat milk' })
    expect(changed.status).to.equal(200)
    expect(changed.body).to.include({ title: 'Oat milk', text: 'About Milk', created_at: note.created_at })

    expect((await client.delete(`/notes/${milk}`)).status).to.equal(204)
    expect((await client.get(`/notes/${milk}`)).status).to.equal(404)
    expect(titles((await client.get('/notes')).body)).to.deep.equal(['Bread'])
  })

  it('responds to the note of another user as to a missing note: 404 with its id, and the note is unchanged', async () => {
    const { client: owner } = await signUp(application())
    const { client: other } = await signUp(application())
    const id = await write(owner, 'Mine')
    const before = (await owner.get(`/notes/${id}`)).body
    const none = '7d1c1f0a-7b39-4a52-9b0e-f5a5f1a1e0a7'

    for (const wanted of [id, none])
      for (const [method, body] of [['GET'], ['PATCH', { title: 'Theirs' }], ['DELETE']] as const) {
        const answer = await other.request(method, `/notes/${wanted}`, { body })
        expect(answer.status, method).to.equal(404)
        expect(answer.body.detail, method).to.equal(`There is no note ${wanted}.`)
      }
    expect((await other.get('/notes')).body).to.deep.equal({ notes: [], total: 0 })
    expect((await owner.get(`/notes/${id}`)).body).to.deep.equal(before)
  })

  it('lists in pages that neither overlap nor leave anything out', async () => {
    const { client } = await signUp(application())
    const written: string[] = []
    for (let number = 1; number <= 5; number++) written.push(await write(client, `Note ${number}`))

    const pages = await Promise.all(
      ['0', '2', '4', '6'].map((offset) => client.get('/notes', { query: { limit: '2', offset } })),
    )
    expect(pages.map(({ body }) => body.notes.length)).to.deep.equal([2, 2, 1, 0])
    expect(pages.map(({ body }) => body.total)).to.deep.equal([5, 5, 5, 5])
    const listed = pages.flatMap(({ body }) => body.notes.map(({ id }: { id: string }) => id))
    expect(listed).to.have.members(written)
  })

  it('filters by archived, where "false" and "no" are false', async () => {
    const { client } = await signUp(application())
    const old = await write(client, 'Old')
    await write(client, 'New')
    await client.patch(`/notes/${old}`, { archived: true })

    for (const no of ['false', 'no', 'off', '0', 'FALSE'])
      expect(titles((await client.get('/notes', { query: { archived: no } })).body), no).to.deep.equal([
        'New',
      ])
    for (const yes of ['true', 'yes', 'on', '1'])
      expect(titles((await client.get('/notes', { query: { archived: yes } })).body), yes).to.deep.equal([
        'Old',
      ])
    expect((await client.get('/notes', { query: { archived: 'maybe' } })).status).to.equal(422)
  })

  it('rejects invalid input with every issue, and writes nothing', async () => {
    const { client } = await signUp(application())
    const { status, body } = await client.post('/notes', { title: '  ', text: 7, color: 'red' })
    expect(status).to.equal(422)
    expect(body.code).to.equal('validation_failed')
    expect(body.errors.map(({ location }: { location: string }) => location)).to.include('body')

    expect((await client.post('/notes', { title: 'x'.repeat(201), text: '' })).status).to.equal(422)
    const limits = await client.get('/notes', { query: { limit: '101', offset: '-1' } })
    expect(limits.body.errors.map(({ path }: { path: string }) => path)).to.have.members(['limit', 'offset'])
    expect((await client.get('/notes')).body.total).to.equal(0)
  })

  it('ends every session with a new password', async () => {
    const app = application()
    const { client, email } = await signUp(app)
    expect((await client.post('/auth/forgot-password', { email })).status).to.equal(200)
    const token = tokenIn(await mailbox(app).waitFor(email))
    expect(
      (await client.post('/auth/reset-password', { token, password: 'a wholly new one' })).status,
    ).to.equal(200)

    expect((await client.get('/notes')).status).to.equal(401)
    expect((await client.post('/auth/refresh')).status).to.equal(401)
    expect((await client.post('/auth/login', { email, password: 'correct horse battery' })).status).to.equal(
      401,
    )
    expect((await client.post('/auth/login', { email, password: 'a wholly new one' })).status).to.equal(200)
  })
}
