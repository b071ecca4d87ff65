import { expect } from 'chai'
import { object, string } from 'yup'
import { createApp, createRouter } from 'mortar'
import { basicAuth } from '@mortar/auth/basic'
import { auth } from '@mortar/auth'

type Json = Record<string, any> // oxlint-disable-line typescript/no-explicit-any -- a document of any form

async function documentOf(own?: ReturnType<typeof createRouter>): Promise<Json> {
  const app = createApp({ logger: false }).use(
    auth(basicAuth({ secret: 'x'.repeat(40), db: () => undefined as never })),
  )
  if (own !== undefined) app.use(own)
  const inspected = await app.inspect()
  return inspected.document()
}

const nameOf = (schema: Json): string => String(schema['$ref']).replace('#/components/schemas/', '')

describe('The schemas of the endpoints of the auth brick', () => {
  it('are components with names, bodies and responses', async () => {
    const { paths } = await documentOf()
    const named = Object.fromEntries(
      Object.entries(paths as Json)
        .filter(([path]) => path.startsWith('/auth/'))
        .map(([path, { get, post }]) => {
          const { requestBody, responses } = (post ?? get) as Json
          const [body, response] = [requestBody, responses['200']].map(
            (part) => part?.content && nameOf(part.content['application/json'].schema),
          )
          return [path.replace('/auth/', ''), [body, response]]
        }),
    )
    expect(named).to.deep.include({
      signup: ['SignUp', undefined],
      login: ['LogIn', 'SignedIn'],
      me: [undefined, 'CurrentUser'],
      'change-password': ['ChangePassword', 'ChangedPassword'],
      'forgot-password': ['ForgotPassword', 'AuthMessage'],
      'reset-password': ['ResetPassword', 'AuthMessage'],
    })
    expect(named['refresh']![1]).to.equal('AccessToken')
    expect(nameOf(paths['/auth/signup'].post.responses['201'].content['application/json'].schema)).to.equal(
      'SignedIn',
    )
  })

  it('leave a name to a schema of the application', async () => {
    const body = object({ team: string().required() }).label('SignUp')
    const { components, paths } = await documentOf(createRouter().post('/teams', { body }, () => 'ok'))
    expect(components.schemas.SignUp.properties).to.have.all.keys('team')
    expect(nameOf(paths['/auth/signup'].post.requestBody.content['application/json'].schema)).to.equal(
      'SignUp2',
    )
  })

  it('refer to the user as a component too', async () => {
    const { components } = await documentOf()
    expect(nameOf(components.schemas.SignedIn.properties.user)).to.equal('AuthUser')
    expect(components.schemas.AuthUser.required).to.deep.equal(['id', 'name', 'email'])
  })
})
