import type { SecurityScheme } from 'mortar'

/**
 * The scheme of the password providers for the OpenAPI document. `x-sign-in` tells the documentation page how to sign in:
 * the operations of `routes/`, and the parts of their responses.
 */
export const PASSWORD_SCHEME: SecurityScheme = {
  name: 'accessToken',
  scheme: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    'x-sign-in': {
      operations: {
        signUp: 'signUp',
        logIn: 'logIn',
        refresh: 'refreshSession',
        logOut: 'logOut',
        changePassword: 'changePassword',
      },
      token: 'accessToken',
      expiresIn: 'expiresIn',
      name: 'user.email',
    },
  },
}
