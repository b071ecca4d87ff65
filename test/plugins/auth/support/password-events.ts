import { failing, FROM, limitOf, NEXT, post, EVE, type Row, type Scene } from './event-scene.ts'
import { ADA, PASSWORD, resetTokenFor, settle, type World } from './world.ts'

const change = ({ ada }: Scene, current: string, next = NEXT) =>
  ada.post('/auth/change-password', { current, next }, FROM)

export const CHANGE: Row[] = [
  {
    flow: 'change-password',
    end: 'success',
    act: (scene) => change(scene, PASSWORD),
    status: 200,
    events: ({ userId }) => [['auth.password.changed', { userId, sessionId: 'NEW' }]],
  },
  {
    flow: 'change-password',
    end: 'wrong current password',
    act: (scene) => change(scene, NEXT),
    status: 401,
    events: ({ userId, sessionId }) => [
      ['auth.password.change.failed', { userId, sessionId, reason: 'invalid_credentials' }],
    ],
  },
  {
    flow: 'change-password',
    end: 'weak password',
    act: (scene) => change(scene, PASSWORD, 'password'),
    status: 422,
    events: ({ userId, sessionId }) => [
      ['auth.password.change.failed', { userId, sessionId, reason: 'weak_password' }],
    ],
  },
  {
    flow: 'change-password',
    end: 'deleted account',
    before: ({ world }) => world.storage.deleteUsers(),
    act: (scene) => change(scene, PASSWORD),
    status: 401,
    events: ({ userId, sessionId }) => [
      ['auth.password.change.failed', { userId, sessionId, reason: 'invalid_token' }],
    ],
  },
  {
    flow: 'change-password',
    end: 'limit',
    options: limitOf('changePassword', 'user'),
    before: (scene) => change(scene, NEXT),
    act: (scene) => change(scene, PASSWORD),
    status: 429,
    events: ({ userId, sessionId }) => [
      ['auth.password.change.limited', { userId, sessionId, scope: 'user' }],
    ],
  },
  {
    flow: 'change-password',
    end: 'failing store',
    before: failing,
    act: (scene) => change(scene, PASSWORD),
    status: 500,
    events: ({ userId, sessionId }) => [
      ['auth.password.change.failed', { userId, sessionId, reason: 'error' }],
    ],
  },
]

const forgot = (scene: Scene, email: string) => post(scene, '/auth/forgot-password', { email })

export const FORGOT: Row[] = [
  {
    flow: 'forgot-password',
    end: 'known address',
    act: (scene) => forgot(scene, ADA.email),
    status: 200,
    events: ({ userId }) => [['auth.password.reset.requested', { email: ADA.email, userId }]],
  },
  {
    flow: 'forgot-password',
    end: 'unknown address',
    act: (scene) => forgot(scene, EVE),
    status: 200,
    events: () => [['auth.password.reset.requested', { email: EVE }]],
  },
  {
    flow: 'forgot-password',
    end: 'mail that fails',
    options: {
      auth: {
        sendResetEmail: () => {
          throw new Error('no route')
        },
      },
    },
    act: (scene) => forgot(scene, ADA.email),
    status: 200,
    events: ({ userId }) => [
      ['auth.password.reset.requested', { email: ADA.email, userId }],
      ['auth.password.reset.mail.failed', { userId, error: 'Error: no route' }],
    ],
  },
  {
    flow: 'forgot-password',
    end: 'limit',
    options: limitOf('forgot', 'address'),
    before: (scene) => forgot(scene, EVE),
    act: (scene) => forgot(scene, EVE),
    status: 429,
    events: () => [['auth.password.reset.request.limited', { email: EVE, scope: 'address' }]],
  },
  {
    flow: 'forgot-password',
    end: 'failing store',
    before: failing,
    act: (scene) => forgot(scene, ADA.email),
    status: 500,
    events: () => [['auth.password.reset.request.failed', { email: ADA.email, reason: 'error' }]],
  },
  {
    flow: 'forgot-password',
    end: 'store that fails after the response',
    before: async ({ world }) => {
      await settle(world)
      world.storage.interruptions.failAt(2)
    },
    act: (scene) => forgot(scene, ADA.email),
    status: 200,
    events: () => [['auth.password.reset.request.failed', { email: ADA.email, reason: 'error' }]],
  },
]

/** The token is asked for by each row itself, from the scene. */
const tokens = new WeakMap<World, string>()
const takeToken = async ({ world }: Scene) => tokens.set(world, await resetTokenFor(world))
const reset = (scene: Scene, password = NEXT) =>
  post(scene, '/auth/reset-password', { token: tokens.get(scene.world) ?? 'x', password })

export const RESET: Row[] = [
  {
    flow: 'reset-password',
    end: 'success',
    before: takeToken,
    act: (scene) => reset(scene),
    status: 200,
    events: ({ userId }) => [['auth.password.reset.succeeded', { userId }]],
  },
  {
    flow: 'reset-password',
    end: 'invalid token',
    act: (scene) => reset(scene),
    status: 401,
    events: () => [['auth.password.reset.failed', { reason: 'invalid_reset_token' }]],
  },
  {
    flow: 'reset-password',
    end: 'weak password',
    before: takeToken,
    act: (scene) => reset(scene, 'password'),
    status: 422,
    events: ({ userId }) => [['auth.password.reset.failed', { userId, reason: 'weak_password' }]],
  },
  {
    flow: 'reset-password',
    end: 'limit',
    options: limitOf('reset', 'ip'),
    before: (scene) => reset(scene),
    act: (scene) => reset(scene),
    status: 429,
    events: () => [['auth.password.reset.limited', { scope: 'ip' }]],
  },
  {
    flow: 'reset-password',
    end: 'failing store',
    before: async (scene) => {
      await takeToken(scene)
      await settle(scene.world)
      await failing(scene)
    },
    act: (scene) => reset(scene),
    status: 500,
    events: () => [['auth.password.reset.failed', { reason: 'error' }]],
  },
]
