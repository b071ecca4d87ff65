import { defineBrick, singleton, type Authenticator } from 'mortar'

/** An authenticator with two users, by header, cookie and query, whose credentials end when a test chooses. */
export function createSessions() {
  const watchers = new Set<() => void>()
  const authenticator: Authenticator<'admin'> = {
    identify: ({ token }) => (['ada', 'bob'].includes(token) ? { id: token, raw: {} } : null),
    watch(_credential, _request, onEnd) {
      watchers.add(onEnd)
      return () => watchers.delete(onEnd)
    },
    policies: { admin: ({ id }) => id === 'ada' },
    cookie: 'token',
    securityScheme: { name: 'key', scheme: { type: 'http', scheme: 'bearer' } },
  }
  const brick = defineBrick({ name: 'sessions', services: { authenticator: singleton(() => authenticator) } })
  const end = (): void => {
    for (const onEnd of watchers) onEnd()
  }
  return { brick, watchers, end }
}

/** The header with the credential of a user. */
export const as = (user: string) => ({ authorization: `Bearer ${user}` })
