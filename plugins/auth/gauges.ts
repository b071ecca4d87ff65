import type { Gauges } from 'mortar'
import type { Passwords } from './passwords/passwords.ts'
import type { SessionNews } from './sessions/session-news.ts'

/** Adds the gauges of a password provider: its hash queue, and the age of its list of ended sessions. */
export function addAuthGauges(
  gauges: Gauges,
  { passwords, news }: { readonly passwords: Passwords; readonly news: SessionNews },
): void {
  gauges.add('auth_password_hashes_running', {
    help: 'Password hashes that run now.',
    read: () => passwords.load().running,
  })
  gauges.add('auth_password_hashes_waiting', {
    help: 'Password hashes that wait for a place.',
    read: () => passwords.load().waiting,
  })
  gauges.add('auth_ended_sessions_age_seconds', {
    help: 'Time since the last successful read of the sessions that other processes ended.',
    read: () => news.age(),
    combine: 'max',
  })
  gauges.add('auth_session_state_unknown', {
    help: '1 while that list is too old to be used (staleAfter), so that guarded routes respond 503.',
    read: () => (news.age() === undefined ? undefined : Number(news.isUnknown())),
    combine: 'max',
  })
  gauges.add('mortar_clock_offset_seconds', {
    help: 'Seconds by which the clock of this process is ahead of the database.',
    read: () => news.clockOffset(),
    combine: 'max',
  })
}
