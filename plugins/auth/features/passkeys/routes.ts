import * as yup from 'mortar/yup'
import { defineRoute, type BaseContext, type Router } from 'mortar'
import { featureOf, ownSession, presentedToken, signedInBody } from '../../routes/auth-context.ts'
import { authRouter } from '../../routes/auth-router.ts'
import {
  assertion,
  base64url,
  CREDENTIAL,
  JSON_BODY,
  limited,
  shownName,
  signedIn,
  stale,
} from '../../routes/shapes.ts'
import { LIFETIME, type ConfirmationStart, type PasskeyOperations } from './operations.ts'
import { ALGORITHM_NUMBERS } from './verify.ts'

const passkeysOf = (ctx: BaseContext) => featureOf<PasskeyOperations>(ctx, 'passkeys')

const TIMEOUT = LIFETIME * 1000

const text = () => yup.string().required()

const registration = yup
  .object({
    ...CREDENTIAL,
    response: yup
      .object({
        clientDataJSON: base64url(4096),
        authenticatorData: base64url(4096),
        publicKey: base64url(1000),
        publicKeyAlgorithm: yup.number().strict().required(),
      })
      .required(),
  })
  .required()
  .meta({ description: 'toJSON() of the result of navigator.credentials.create().' })

const descriptor = yup.object({ type: text(), id: text() })

const creationOptions = yup
  .object({
    rp: yup.object({ id: text(), name: text() }).required(),
    user: yup.object({ id: text(), name: text(), displayName: text() }).required(),
    challenge: text(),
    pubKeyCredParams: yup
      .array(yup.object({ type: text(), alg: yup.number().required() }).required())
      .required(),
    timeout: yup.number().required(),
    excludeCredentials: yup.array(descriptor.required()).required(),
    authenticatorSelection: yup
      .object({ residentKey: text(), requireResidentKey: yup.boolean().required(), userVerification: text() })
      .required(),
    attestation: text(),
  })
  .label('PasskeyCreationOptions')

const requestOptions = yup
  .object({
    challenge: text(),
    rpId: text(),
    timeout: yup.number().required(),
    userVerification: text(),
    allowCredentials: yup.array(descriptor.required()).required(),
  })
  .label('PasskeyRequestOptions')

function requestOf({ party }: PasskeyOperations, { challenge, known }: ConfirmationStart) {
  return {
    challenge,
    rpId: party.id,
    timeout: TIMEOUT,
    userVerification: 'required',
    allowCredentials: descriptorsOf(known),
  }
}

function descriptorsOf(ids: readonly string[]) {
  return ids.map((id) => ({ type: 'public-key', id }))
}

const passkey = yup
  .object({
    id: text(),
    name: text(),
    aaguid: text().meta({ description: 'Model of the authenticator; zeros if it is not known.' }),
    backedUp: yup.boolean().required().meta({ description: 'True if it is synchronised to other devices.' }),
    createdAt: text().meta({ format: 'date-time' }),
    lastUsedAt: yup.string().nullable().defined().meta({ format: 'date-time' }),
  })
  .label('Passkey')

const refused = { description: 'Not signed in, or the passkey or its challenge is not valid.' }

const beginRoute = defineRoute(
  {
    summary: 'Begin to add a passkey',
    description:
      'For PublicKeyCredential.parseCreationOptionsFromJSON(). The result goes to POST /auth/passkeys within five minutes.',
    operationId: 'beginPasskey',
    auth: 'fresh',
    response: { 200: creationOptions, 403: stale, 429: limited },
  },
  async (ctx) => {
    const { challenge, party, userHandle, user, known } = await passkeysOf(ctx).beginRegistration(
      ownSession(ctx),
      ctx,
    )
    return {
      rp: { id: party.id, name: party.name },
      user: { id: userHandle, name: user.email, displayName: user.name },
      challenge,
      pubKeyCredParams: ALGORITHM_NUMBERS.map((alg) => ({ type: 'public-key', alg })),
      timeout: TIMEOUT,
      excludeCredentials: descriptorsOf(known),
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
      attestation: 'none',
    }
  },
)

const addRoute = defineRoute(
  {
    summary: 'Add a passkey',
    operationId: 'addPasskey',
    auth: true,
    ...JSON_BODY,
    body: yup.object({ response: registration, name: shownName }).meta({ title: 'AddPasskey' }),
    response: {
      201: passkey,
      401: refused,
      409: { description: 'This passkey is in use already.' },
      429: limited,
    },
  },
  async (ctx) => {
    const { response, name } = ctx.body
    const added = await passkeysOf(ctx).add(response, name, { own: ownSession(ctx), caller: ctx })
    ctx.status = 201
    return added
  },
)

const listRoute = defineRoute(
  {
    summary: 'The passkeys of the user',
    operationId: 'listPasskeys',
    auth: true,
    response: {
      200: yup.object({ passkeys: yup.array(passkey.required()).required() }).label('Passkeys'),
    },
  },
  async (ctx) => ({ passkeys: [...(await passkeysOf(ctx).list(ownSession(ctx)))] }),
)

const removeRoute = defineRoute(
  {
    summary: 'Remove a passkey',
    operationId: 'removePasskey',
    auth: 'fresh',
    params: yup.object({ id: text() }),
    response: {
      204: { description: 'The passkey signs nobody in any more.' },
      403: stale,
      404: { description: 'The user has no such passkey.' },
      409: { description: 'It is the only way in: set a password first.' },
      429: limited,
    },
  },
  async (ctx) => passkeysOf(ctx).remove(ctx.params.id, ownSession(ctx), ctx),
)

const beginLogInRoute = defineRoute(
  {
    summary: 'Begin to log in with a passkey',
    description:
      'For PublicKeyCredential.parseRequestOptionsFromJSON(). The result goes to POST /auth/login/passkey within five minutes.',
    operationId: 'beginPasskeyLogIn',
    response: { 200: requestOptions, 429: limited },
  },
  async (ctx) => {
    const passkeys = passkeysOf(ctx)
    return requestOf(passkeys, { challenge: await passkeys.beginLogIn(ctx), known: [] })
  },
)

const beginConfirmationRoute = defineRoute(
  {
    summary: 'Begin to confirm with a passkey',
    description:
      'For PublicKeyCredential.parseRequestOptionsFromJSON(). The result is `passkey` of POST /auth/confirm, and of others ' +
      'that ask for a second factor, within five minutes.',
    operationId: 'beginPasskeyConfirmation',
    auth: true,
    response: { 200: requestOptions, 429: limited },
  },
  async (ctx) => {
    const passkeys = passkeysOf(ctx)
    return requestOf(passkeys, await passkeys.beginConfirmation(ownSession(ctx), ctx))
  },
)

const logInRoute = defineRoute(
  {
    summary: 'Log in with a passkey',
    description: 'Signs a user in without a password, and without a second factor: a passkey is both.',
    operationId: 'logInWithPasskey',
    ...JSON_BODY,
    body: yup.object({ response: assertion.required() }).meta({ title: 'LogInWithPasskey' }),
    response: {
      200: signedIn,
      401: { description: 'The passkey or its challenge is not valid.' },
      429: limited,
    },
  },
  async (ctx) => signedInBody(ctx, await passkeysOf(ctx).logIn(ctx.body.response, ctx, presentedToken(ctx))),
)

/** The router of `passkeys()`. */
export function passkeyRoutes(): Router {
  const router = authRouter()
  router.post('/passkeys/options', beginRoute)
  router.post('/passkeys', addRoute)
  router.get('/passkeys', listRoute)
  router.delete('/passkeys/:id', removeRoute)
  router.post('/passkeys/confirm/options', beginConfirmationRoute)
  router.post('/login/passkey/options', beginLogInRoute)
  router.post('/login/passkey', logInRoute)
  return router
}
