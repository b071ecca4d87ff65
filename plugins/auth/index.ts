/** Entry `@mortar/auth`: the auth brick and the contract of its providers. */
export { auth } from './brick.ts'
export type { AuthOptions } from './brick.ts'
export type {
  AuthStore,
  EndedSessionNews,
  EndedSessionReader,
  NewUser,
  PasswordChange,
  Rotation,
  SessionOwner,
  StoredResetToken,
  StoredSession,
  StoredUser,
} from './accounts/auth-store.ts'
export type { AuthEvents } from './events/events.ts'
export type {
  AuthProvider,
  ProviderCapabilities,
  ProviderDescription,
  ConnectedProvider,
} from './provider.ts'
