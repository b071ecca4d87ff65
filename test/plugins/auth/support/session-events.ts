import { failing, FROM, limitOf, login, NEXT, post, EVE, CROSS_SITE, type Row } from './event-scene.ts'
import { ADA, PASSWORD } from './world.ts'

export const SIGNUP: Row[] = [
  {
    flow: 'signup',
    end: 'success',
    act: (scene) => post(scene, '/auth/signup', { ...ADA, email: EVE }),
    status: 201,
    events: () => [['auth.signup.succeeded', { userId: 'NEW', sessionId: 'NEW' }]],
  },
  {
    flow: 'signup',
    end: 'taken address',
    act: (scene) => post(scene, '/auth/signup', ADA),
    status: 409,
    events: () => [['auth.signup.failed', { email: ADA.email, reason: 'email_taken' }]],
  },
  {
    flow: 'signup',
    end: 'weak password',
    act: (scene) => post(scene, '/auth/signup', { ...ADA, email: EVE, password: 'password' }),
    status: 422,
    events: () => [['auth.signup.failed', { email: EVE, reason: 'weak_password' }]],
  },
  {
    flow: 'signup',
    end: 'limit',
    options: limitOf('signup', 'address'),
    act: (scene) => post(scene, '/auth/signup', ADA),
    status: 429,
    events: () => [['auth.signup.limited', { email: ADA.email, scope: 'address' }]],
  },
  {
    flow: 'signup',
    end: 'failing store',
    before: failing,
    act: (scene) => post(scene, '/auth/signup', { ...ADA, email: EVE }),
    status: 500,
    events: () => [['auth.signup.failed', { email: EVE, reason: 'error' }]],
  },
  {
    flow: 'signup',
    end: 'input that fails its schema: no flow begins',
    act: (scene) => post(scene, '/auth/signup', { ...ADA, email: 'x' }),
    status: 422,
    events: () => [],
  },
]

export const LOGIN: Row[] = [
  {
    flow: 'login',
    end: 'success',
    act: (scene) => login(scene, ADA.email, PASSWORD),
    status: 200,
    events: ({ userId }) => [['auth.login.succeeded', { userId, sessionId: 'NEW' }]],
  },
  {
    flow: 'login',
    end: 'wrong password',
    act: (scene) => login(scene, ADA.email, NEXT),
    status: 401,
    events: ({ userId }) => [
      ['auth.login.failed', { email: ADA.email, userId, reason: 'invalid_credentials' }],
    ],
  },
  {
    flow: 'login',
    end: 'unknown address',
    act: (scene) => login(scene, EVE, NEXT),
    status: 401,
    events: () => [['auth.login.failed', { email: EVE, reason: 'invalid_credentials' }]],
  },
  {
    flow: 'login',
    end: 'unusable hash',
    before: ({ world }) => world.storage.changeUsers({ password_hash: 'damaged' }),
    act: (scene) => login(scene, ADA.email, PASSWORD),
    status: 401,
    events: ({ userId }) => [
      ['auth.password.unusable', { userId }],
      ['auth.login.failed', { email: ADA.email, userId, reason: 'invalid_credentials' }],
    ],
  },
  {
    flow: 'login',
    end: 'limit',
    options: limitOf('login', 'pair'),
    before: (scene) => login(scene, EVE, NEXT),
    act: (scene) => login(scene, EVE, NEXT),
    status: 429,
    events: () => [['auth.login.limited', { email: EVE, scope: 'pair' }]],
  },
  {
    flow: 'login',
    end: 'failing store',
    before: failing,
    act: (scene) => login(scene, ADA.email, PASSWORD),
    status: 500,
    events: () => [['auth.login.failed', { email: ADA.email, reason: 'error' }]],
  },
]

export const REFRESH: Row[] = [
  {
    flow: 'refresh',
    end: 'success',
    act: ({ ada }) => ada.post('/auth/refresh', undefined, FROM),
    status: 200,
    events: ({ userId, sessionId }) => [['auth.token.refreshed', { userId, sessionId }]],
  },
  {
    flow: 'refresh',
    end: 'success of two tabs at the same time',
    act: async ({ ada }) => {
      const tabs = [ada.copy(), ada.copy()]
      const [one] = await Promise.all(tabs.map((tab) => tab.post('/auth/refresh', undefined, FROM)))
      return one!
    },
    status: 200,
    events: ({ userId, sessionId }) => [
      ['auth.token.refreshed', { userId, sessionId }],
      ['auth.token.refreshed', { userId, sessionId }],
    ],
  },
  {
    flow: 'refresh',
    end: 'no session',
    act: (scene) => post(scene, '/auth/refresh'),
    status: 401,
    events: () => [['auth.token.refused', { reason: 'invalid_session' }]],
  },
  {
    flow: 'refresh',
    end: 'reused token',
    before: async ({ ada, world }) => {
      const thief = ada.copy()
      await ada.post('/auth/refresh')
      await ada.post('/auth/refresh')
      world.clock.advance(600)
      for (const [name, value] of thief.cookies) ada.cookies.set(name, value)
    },
    act: ({ ada }) => ada.post('/auth/refresh', undefined, FROM),
    status: 401,
    events: ({ userId, sessionId }) => [['auth.token.reused', { userId, sessionId }]],
  },
  {
    flow: 'refresh',
    end: 'limit',
    options: limitOf('refresh', 'session'),
    before: ({ ada }) => ada.post('/auth/refresh'),
    act: ({ ada }) => ada.post('/auth/refresh', undefined, FROM),
    status: 429,
    events: () => [['auth.token.limited', { scope: 'session' }]],
  },
  {
    flow: 'refresh',
    end: 'failing store',
    before: failing,
    act: ({ ada }) => ada.post('/auth/refresh', undefined, FROM),
    status: 500,
    events: () => [['auth.token.refused', { reason: 'error' }]],
  },
  {
    flow: 'refresh',
    end: 'page of another origin: no flow begins',
    act: ({ ada }) => ada.post('/auth/refresh', undefined, CROSS_SITE),
    status: 403,
    events: () => [['auth.csrf.refused', { path: '/auth/refresh' }]],
  },
]

export const LOGOUT: Row[] = [
  {
    flow: 'logout',
    end: 'success',
    act: ({ ada }) => ada.post('/auth/logout', undefined, FROM),
    status: 204,
    events: ({ userId, sessionId }) => [['auth.logout', { userId, sessionId }]],
  },
  {
    flow: 'logout',
    end: 'success with an access token alone',
    before: async ({ ada }) => ada.cookies.clear(),
    act: ({ ada }) => ada.post('/auth/logout', undefined, FROM),
    status: 204,
    events: ({ userId, sessionId }) => [['auth.logout', { userId, sessionId }]],
  },
  {
    flow: 'logout',
    end: 'nothing to end',
    act: (scene) => post(scene, '/auth/logout'),
    status: 204,
    events: () => [['auth.logout', {}]],
  },
  {
    flow: 'logout',
    end: 'failing store',
    before: failing,
    act: ({ ada }) => ada.post('/auth/logout', undefined, FROM),
    status: 500,
    events: () => [['auth.logout.failed', { reason: 'error' }]],
  },
]
