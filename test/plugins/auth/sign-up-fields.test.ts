import { expect } from 'chai'
import * as yup from 'mortar/yup'
import { basicAuth, type ConnectedPasswordProvider, type PasswordAuthOptions } from '@mortar/auth/basic'
import { documentAuth } from '@mortar/auth-document'
import { emailVerification } from '@mortar/auth/email-verification'
import { recent } from '@mortar/auth/recent'
import { failureOf } from './support/failure-of.ts'
import { onEachDatabase } from './support/on-each-store.ts'
import { ADA, inWorld as onSqlite, SECRET, settle, type World, type WorldOptions } from './support/world.ts'

const settings = yup.object({ theme: yup.string().oneOf(['dark', 'light']).required() }).default(undefined)
const signUpFields = yup.object({ subscribed: yup.boolean().required(), settings })
const WITH_FIELDS: WorldOptions = { ownColumns: true, auth: { signUpFields } }
const providerOf = ({ app }: World) =>
  (app.services as { authProvider: ConnectedPasswordProvider }).authProvider

onEachDatabase('signUpFields', (inWorld) => {
  it('are validated, stored in columns of their names, and part of user.raw', () =>
    inWorld(WITH_FIELDS, async (world) => {
      const client = world.client()
      const invalid = await client.post('/auth/signup', {
        ...ADA,
        subscribed: 'no',
        settings: { theme: 'red' },
      })
      expect(invalid.status).to.equal(422)
      expect(invalid.body.errors.map(({ path }: { path: string }) => path).toSorted()).to.deep.equal([
        'settings.theme',
        'subscribed',
      ])
      const own = { subscribed: false, settings: { theme: 'dark' } }
      expect((await client.post('/auth/signup', { ...ADA, ...own, role: 'admin' })).status).to.equal(201)
      expect((await client.get('/auth/me')).body.raw).to.deep.include({ ...own, role: 'user' })
      const bob = { ...ADA, email: 'bob@example.com', subscribed: true }
      expect((await client.post('/auth/signup', bob)).status).to.equal(201)
      expect((await client.get('/auth/me')).body.raw).to.deep.include({ subscribed: true, settings: null })
    }))

  it('do not limit code of the application, which may set any column of its own', () =>
    inWorld(WITH_FIELDS, async (world) => {
      const user = await providerOf(world).createUser({
        ...ADA,
        fields: { role: 'admin', auth_from: 'an import' },
      })
      expect(user.raw).to.deep.include({ role: 'admin', subscribed: true, auth_from: 'an import' })
      const invited = await providerOf(world).invite({
        name: 'Bob',
        email: 'bob@example.com',
        fields: { role: 'editor' },
      })
      expect(invited.raw['role']).to.equal('editor')
      for (const name of ['id', 'email', 'password_hash', 'email_verified_at'])
        expect(
          (await failureOf(() => providerOf(world).createUser({ ...ADA, fields: { [name]: 'x' } }))).message,
        ).to.include(`'${name}'`)
      await settle(world)
    }))
})

describe('signUpFields', () => {
  it('are in the OpenAPI document beside name, address and password', () =>
    onSqlite({ ...WITH_FIELDS, app: { openapi: {} } }, async (world) => {
      const { body } = await world.client().get('/openapi.json')
      const content = body.paths['/auth/signup'].post.requestBody.content['application/json'].schema
      const schema = body.components.schemas[content.$ref?.split('/').at(-1)] ?? content
      expect(Object.keys(schema.properties)).to.have.members([
        'name',
        'email',
        'password',
        'subscribed',
        'settings',
      ])
      expect(schema.required).to.include.members(['name', 'email', 'password', 'subscribed'])
    }))

  it('belong to a uniform signup too', () =>
    onSqlite(
      {
        ...WITH_FIELDS,
        withFeatures: true,
        auth: { signUpFields, features: [recent(), emailVerification({ uniformSignup: true })] },
      },
      async (world) => {
        expect((await world.client().post('/auth/signup', ADA)).status).to.equal(422)
        expect((await world.client().post('/auth/signup', { ...ADA, subscribed: false })).status).to.equal(
          202,
        )
        await settle(world)
        expect((await world.storage.users())[0].subscribed).to.equal(0)
      },
    ))

  it('refuse privileges, fields of the framework, unknown and private columns, and other values', async () => {
    const of = (...names: string[]) =>
      yup.object(Object.fromEntries(names.map((name) => [name, yup.string()])))
    for (const [fields, name] of [
      [of('role'), 'role'],
      [of('phone', 'isAdmin'), 'isAdmin'],
      [of('permissions'), 'permissions'],
      [of('password_hash'), 'password_hash'],
      [of('email_verified_at'), 'email_verified_at'],
      [of('password'), 'password'],
      [of('id'), 'id'],
      [of('auth_level'), 'auth_level'],
      [of('address.street'), 'address.street'],
      [of('$set'), '$set'],
      [{ role: 'string' }, 'not an object schema'],
    ] as const)
      for (const make of [basicAuth, documentAuth] as ((options: PasswordAuthOptions) => unknown)[]) {
        const error = await failureOf(() => make({ secret: SECRET, signUpFields: fields as never }))
        expect(error.code, name).to.equal('MORTAR_AUTH_OPTION')
        expect(error.message).to.include(name)
      }
    const start = (name: string) =>
      failureOf(() => onSqlite({ ownColumns: true, auth: { signUpFields: of(name) } }, async () => undefined))
    for (const name of ['phone', 'totp_secret']) {
      const error = await start(name)
      expect(error.code).to.equal('MORTAR_AUTH_OPTION')
      expect(error.message).to.include(
        `has '${name}', which is not a column of authUsers({ … }) without select: false`,
      )
    }
    const error = await failureOf(() => documentAuth({ secret: SECRET, signUpFields: of('phone') }))
    expect(error.message).to.include("'phone', which is not a field of userFields")
  })
})
