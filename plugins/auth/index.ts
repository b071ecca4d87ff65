/** Entry `@mortar/auth`: the auth brick and the contract of its providers. */
export { auth } from './brick.ts'
export type { AuthOptions } from './brick.ts'
export type {
  AuthStore,
  DeletedRecords,
  EmailChange,
  EndedSessionNews,
  EndedSessionReader,
  NewUser,
  PasswordChange,
  Rotation,
  SessionOwner,
  StoredResetToken,
  StoredSession,
  StoredUser,
  UserQuery,
} from './accounts/auth-store.ts'
export type { Account, AccountOperations, AccountSession } from './flows/accounts.ts'
export type { AuthEvents } from './events/events.ts'
export type {
  AuthProvider,
  ProviderCapabilities,
  ProviderDescription,
  ConnectedProvider,
} from './provider.ts'
