import { defineBrick, singleton, type Authenticator, type Policy, type User } from 'mortar'

/** An authenticator for tests of the core: the token is the user's id, `bad` is nobody, `broken` cannot be evaluated. */
export function tokens(policies: Readonly<Record<string, Policy>> = {}, more: Partial<Authenticator> = {}) {
  return defineBrick({
    name: 'tokens',
    services: {
      authenticator: singleton((): Authenticator => ({
        identify: ({ token }) => identify(token),
        policies,
        securityScheme: { name: 'bearer', scheme: { type: 'http', scheme: 'bearer' } },
        ...more,
      })),
    },
  })
}

function identify(token: string): User | null | Promise<User | null> {
  if (token === 'bad') return null
  if (token === 'broken') throw new Error('The key server is down.')
  const user = { id: token, raw: { role: token } }
  return token.startsWith('async') ? Promise.resolve(user) : user
}

/** The header that signs a user in. */
export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
