import { createApp, defineBrick, singleton, type AppOptions, type Authenticator } from 'mortar'
import { realtime, type RealtimeOptions } from '@mortar/realtime'
import { channels, type ChannelsOptions } from '@mortar/realtime/channels'

export const DIRECTORY = new URL('./files', import.meta.url)

/** An authenticator whose tokens are names of users, and whose sessions and facts end when a test chooses. */
export function createUsers() {
  const watchers = new Map<() => void, string>()
  const denied = new Set<string>()
  const expired = new Set<string>()
  const stuck = new Set<string>()
  /** Users for whom the policy was evaluated. */
  const judged: string[] = []
  /** Users of tokens that do not belong to the user in their name any more. */
  const moved = new Map<string, string>()
  /** Number of evaluations of the policy that still fail for a user. */
  const failing = new Map<string, number>()
  const authenticator: Authenticator<'owner'> = {
    identify: ({ token }) =>
      /^[a-z]+(:\d)?$/.test(token) && !expired.has(token)
        ? { id: moved.get(token) ?? token.split(':')[0]!, raw: {} }
        : // Code without types may return nothing.
          (undefined as never),
    watch({ token }, _request, onEnd) {
      watchers.set(onEnd, token)
      return () => watchers.delete(onEnd)
    },
    policies: {
      owner({ id }, { params }) {
        judged.push(id)
        const failures = failing.get(id) ?? 0
        failing.set(id, Math.max(0, failures - 1))
        if (failures > 0) throw new Error('The database does not respond.')
        return stuck.has(id) ? Promise.race<boolean>([]) : params['owner'] === id && !denied.has(id)
      },
    },
    securityScheme: { name: 'key', scheme: { type: 'http', scheme: 'bearer' } },
  }
  const brick = defineBrick({ name: 'users', services: { authenticator: singleton(() => authenticator) } })
  const end = (user: string): void => {
    for (const [onEnd, token] of watchers) if (token === user) onEnd()
  }
  return { brick, watchers, denied, expired, stuck, judged, moved, failing, end }
}

/** An application with the channels of the tests, in the memory of this process. */
export function channelApp(
  users: ReturnType<typeof createUsers>,
  options: Partial<ChannelsOptions> = {},
  { app, sockets }: { readonly app?: AppOptions; readonly sockets?: RealtimeOptions } = {},
) {
  return createApp({ logger: false, environment: 'test', signals: false, ...app })
    .use(users.brick)
    .use(realtime(sockets))
    .use(channels({ directory: DIRECTORY, ...options }))
}
