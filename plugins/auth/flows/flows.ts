import { createAccountOperations } from './accounts.ts'
import { changePassword, type ChangePassword } from './change-password.ts'
import { createUser } from './create-user.ts'
import { deleteUser } from './delete-user.ts'
import { createForgotPassword } from './forgot-password.ts'
import type { Housekeeping } from './housekeeping.ts'
import { invite, type Invitation } from './invite.ts'
import { logIn, type LogIn } from './log-in.ts'
import { logOut } from './log-out.ts'
import type { AuthParts, Caller } from './parts.ts'
import { createRefresh } from './refresh.ts'
import { resetPassword, type ResetPassword } from './reset-password.ts'
import { disableUser, enableUser, endEverySession, isAlive } from './sessions.ts'
import { signUp, type SignUp } from './sign-up.ts'
import { verifyPassword } from './verify-password.ts'
import type { OwnSession } from './proof.ts'

/** All operations on accounts, without HTTP. `presented` is the refresh token of the request, if any. */
export type AuthFlows = ReturnType<typeof createFlows>

/** Creates the flows of one application. */
export function createFlows(parts: AuthParts, tidy: Housekeeping) {
  const refresh = createRefresh(parts)
  const settled = async (): Promise<void> => {
    await Promise.all([tidy.settled(), parts.mails.settled()])
    await Promise.all(parts.features.flatMap((feature) => feature.settled?.() ?? []))
  }
  return {
    async signUp(input: SignUp, caller: Caller, presented: string | null) {
      const grant = await signUp(parts, input, caller, presented)
      tidy()
      return grant
    },
    async logIn(input: LogIn, caller: Caller, presented: string | null) {
      const grant = await logIn(parts, input, caller, presented)
      tidy()
      return grant
    },
    refresh,
    logOut: (presented: { refreshToken: string | null; accessToken: string | null }, caller: Caller) =>
      logOut(parts, presented, caller),
    changePassword: (input: ChangePassword, own: OwnSession, caller: Caller) =>
      changePassword(parts, input, own, caller),
    forgotPassword: createForgotPassword(parts),
    resetPassword: (input: ResetPassword, caller: Caller) => resetPassword(parts, input, caller),
    createUser: (input: SignUp) => createUser(parts, input),
    invite: (input: Invitation) => invite(parts, input),
    verifyPassword: (userId: string, password: string) => verifyPassword(parts, userId, password),
    /** Ends every session and every reset token of a user. */
    signOut: (userId: string) => endEverySession(parts, userId),
    /** These return false for an unknown user. */
    disable: (userId: string) => disableUser(parts, userId),
    enable: (userId: string) => enableUser(parts, userId),
    deleteUser: (userId: string) => deleteUser(parts, userId),
    /** Operations of an operator. */
    accounts: createAccountOperations(parts),
    /** Returns the user of an access token whose session is active in the database, else null. */
    async findOwner(sessionId: string, userId: string) {
      const found = await parts.store.findUserOfSession(sessionId, userId)
      return found && isAlive(parts, found.session, found.user) ? found.user : null
    },
    /** Resolves when all work that continues after responses is done. */
    settled,
    /** Waits like `settled`, and sends mails that failed once more. */
    async close() {
      await settled()
      const mails = await parts.mails.finish()
      if (mails > 0) parts.logger.error({ mails }, MAILS_LOST)
    },
  }
}

const MAILS_LOST = 'Mails about accounts could not be sent before the process stopped, and are lost'
