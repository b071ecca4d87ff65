import type { Router } from 'mortar'
import type { AnyObjectSchema } from 'mortar/yup'
import type { AuthFeature } from '../features/feature.ts'
import { authRouter } from './auth-router.ts'
import { logInRoute, steppedLogInRoute, verifiedLogInRoute } from './log-in.ts'
import { changePasswordRoute, forgotPasswordRoute, resetPasswordRoute } from './password-routes.ts'
import { logOutRoute, meRoute, refreshRoute } from './session-routes.ts'
import { factorFields } from './shapes.ts'
import { signUpShape } from './sign-up-shape.ts'
import { signUpRoute } from './sign-up.ts'

/** The eight endpoints. They have no state: the provider comes from the services of the request. */
export function passwordRoutes(
  features: readonly Pick<AuthFeature, 'signUp' | 'factorFields' | 'refusesUnverified'>[] = [],
  fields?: AnyObjectSchema,
): Router {
  const codes = factorFields(features)
  const signUp = features.map((feature) => feature.signUp).find((route) => route !== undefined) ?? signUpRoute
  const router = authRouter()
  router.post('/signup', signUp(signUpShape(fields)))
  const logIn = Object.keys(codes).length > 0 ? steppedLogInRoute : logInRoute
  const isRefusing = features.some(({ refusesUnverified }) => refusesUnverified)
  router.post('/login', isRefusing ? verifiedLogInRoute(logIn) : logIn)
  router.post('/refresh', refreshRoute)
  router.post('/logout', logOutRoute)
  router.get('/me', meRoute)
  router.post('/change-password', changePasswordRoute(codes))
  router.post('/forgot-password', forgotPasswordRoute)
  router.post('/reset-password', resetPasswordRoute)
  return router
}
