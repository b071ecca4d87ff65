import type { User } from 'mortar'
import type { StoredUser } from '../accounts/auth-store.ts'
import { createAccountOperations, type AccountOperations } from './accounts.ts'
import { changePassword, type ChangePassword } from './change-password.ts'
import { createUser } from './create-user.ts'
import { deleteUser } from './delete-user.ts'
import { createForgotPassword, type ForgotPasswordInput } from './forgot-password.ts'
import { createHousekeeping } from './housekeeping.ts'
import { invite, type Invitation } from './invite.ts'
import { logIn, type LogIn } from './log-in.ts'
import { logOut } from './log-out.ts'
import type { AuthParts, Caller } from './parts.ts'
import { createRefresh } from './refresh.ts'
import { resetPassword, type ResetPassword } from './reset-password.ts'
import { disableUser, enableUser, endEverySession, isAlive, type Grant } from './sessions.ts'
import { signUp, type SignUp } from './sign-up.ts'
import { verifyPassword } from './verify-password.ts'
import type { OwnSession } from './proof.ts'

/** All operations on accounts, without HTTP. `presented` is the refresh token of the request, if any. */
export interface AuthFlows {
  signUp(input: SignUp, caller: Caller, presented: string | null): Promise<Grant>
  logIn(input: LogIn, caller: Caller, presented: string | null): Promise<Grant>
  refresh(presented: string | null, caller: Caller): Promise<Grant>
  logOut(
    presented: { refreshToken: string | null; accessToken: string | null },
    caller: Caller,
  ): Promise<void>
  changePassword(input: ChangePassword, own: OwnSession, caller: Caller): Promise<Grant>
  forgotPassword(input: ForgotPasswordInput, caller: Caller): Promise<void>
  resetPassword(input: ResetPassword, caller: Caller): Promise<void>
  /** Ends every session and every reset token of a user. */
  signOut(userId: string): Promise<void>
  createUser(input: SignUp): Promise<User>
  invite(input: Invitation): Promise<User>
  verifyPassword(userId: string, password: string): Promise<boolean>
  /** These return false for an unknown user. */
  disable(userId: string): Promise<boolean>
  enable(userId: string): Promise<boolean>
  deleteUser(userId: string): Promise<boolean>
  /** Operations of an operator. */
  readonly accounts: AccountOperations
  /** Returns the user of an access token whose session is active in the database, else null. */
  findOwner(sessionId: string, userId: string): Promise<StoredUser | null>
  /** Resolves when all work that continues after responses is done. */
  settled(): Promise<void>
  /** Waits like `settled`, and sends mails that failed once more. */
  close(): Promise<void>
}

/** Creates the flows of one application. */
export function createFlows(parts: AuthParts): AuthFlows {
  const forgotPassword = createForgotPassword(parts)
  const tidy = createHousekeeping(parts)
  const refresh = createRefresh(parts)
  const settled = async (): Promise<void> => {
    await Promise.all([forgotPassword.settled(), tidy.settled(), parts.mails.settled()])
    await Promise.all(parts.features.flatMap((feature) => feature.settled?.() ?? []))
  }
  return {
    async signUp(input, caller, presented) {
      const grant = await signUp(parts, input, caller, presented)
      tidy()
      return grant
    },
    async logIn(input, caller, presented) {
      const grant = await logIn(parts, input, caller, presented)
      tidy()
      return grant
    },
    refresh,
    logOut: (presented, caller) => logOut(parts, presented, caller),
    changePassword: (input, own, caller) => changePassword(parts, input, own, caller),
    forgotPassword,
    resetPassword: (input, caller) => resetPassword(parts, input, caller),
    createUser: (input) => createUser(parts, input),
    invite: (input) => invite(parts, input),
    verifyPassword: (userId, password) => verifyPassword(parts, userId, password),
    signOut: (userId) => endEverySession(parts, userId),
    disable: (userId) => disableUser(parts, userId),
    enable: (userId) => enableUser(parts, userId),
    deleteUser: (userId) => deleteUser(parts, userId),
    accounts: createAccountOperations(parts),
    async findOwner(sessionId, userId) {
      const found = await parts.store.findUserOfSession(sessionId, userId)
      return found && isAlive(parts, found.session, found.user) ? found.user : null
    },
    settled,
    async close() {
      await settled()
      await Promise.all([forgotPassword.finish(), parts.mails.finish()])
    },
  }
}
