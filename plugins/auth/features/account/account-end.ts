import type { StoredUser } from '../../accounts/auth-store.ts'
import type { RecordRow } from '../../accounts/records.ts'
import { describeFailure, sessionOver } from '../../errors.ts'
import type { Known } from '../../events/outcomes.ts'
import { lifetimeText } from '../../flows/mail-message.ts'
import type { Caller, OwnSession } from '../../flows/proof.ts'
import { asOwner } from '../as-owner.ts'
import type { FeatureKit } from '../feature.ts'
import { mailTo, type MailTexts } from '../mails.ts'
import { DELETIONS } from './table.ts'
import { refused } from '../../refusals.ts'

/** Purpose of the sealed text in a link. */
const PURPOSE = 'restore-account'
/** Milliseconds by which an account that somebody takes back is due later, longer than clocks differ. */
const DELAY = 3_600_000

/** Settings of deletions. */
export interface EndSettings {
  /** Seconds. */
  readonly grace: number
  /** Address of the page that takes an account back. */
  readonly page: string
  /** True if the data of the application are deleted before an account. */
  readonly erasesData: boolean
}

/** The operations on the end of accounts. */
export type AccountEnd = ReturnType<typeof createAccountEnd>

/** Creates the operations of one application. */
export function createAccountEnd(kit: FeatureKit, { grace, page, erasesData }: EndSettings) {
  const deletions = kit.records(DELETIONS)
  /** Cancels the deletion that has disabled the account that was read. @returns false without one. */
  const reopen = async (user: StoredUser): Promise<boolean> => {
    const row = { user_id: user.id, password_version: user.passwordVersion }
    const [due] = await deletions.find({ ...row, expires_at: { above: kit.clock.now() } })
    if (due === undefined || (erasesData && !(await moveDue(kit, due, DELAY)))) return false
    // The row last, so that the link of a request that failed works again. Of many concurrent ones one gets here first.
    return (await kit.accounts.enable(user)) && (await deletions.remove(row)) > 0
  }
  return {
    reopen,
    /**
     * Disables the account of a session, and mails a link that takes it back. Of many concurrent calls one wins.
     * @throws Unauthorized if the session is over; LimitReached.
     */
    request: (own: OwnSession, caller: Caller) =>
      asOwner(kit, { flow: 'deleteAccount', rule: 'account', own, caller }, async (user) => {
        const now = kit.clock.now()
        const [version, due] = [user.passwordVersion + 1, now + grace * 1000]
        // Before the account is disabled: a process that ends in between leaves a row that does not count.
        const set = { password_version: version, created_at: now, expires_at: due }
        const isNew = await deletions.insert({ user_id: user.id, ...set })
        if (!isNew) await deletions.update({ user_id: user.id, password_version: { atMost: version } }, set)
        if (!(await kit.accounts.disable(user))) throw sessionOver()
        const link = `${page}#token=${tokenOf(kit, user.id, version)}`
        kit.mails.send(mailTo(user, deletionMail(link, grace)), caller, due)
      }),
    /** Takes an account back. @throws Unauthorized `invalid_link`, LimitReached. */
    restore(token: string, caller: Caller) {
      const known: Known = {}
      return kit.attempt({ flow: 'restoreAccount', rule: 'verify', caller, known, counted: {} }, async () => {
        const row = readToken(kit, token)
        const user = row && (await kit.users.findUserById(row.user_id))
        if (row === null || user?.passwordVersion !== row.password_version) throw refused('invalid_link')
        known.userId = user.id
        if (!(await reopen(user))) throw refused('invalid_link')
      })
    },
    /** Deletes the accounts whose grace is over at `now`. What fails is logged, and tried again later. */
    async eraseDue(now: number) {
      for (const row of await deletions.find({ expires_at: { atMost: now } }))
        try {
          await erase(kit, row, erasesData)
        } catch (error) {
          const fields = { userId: row['user_id'], reason: describeFailure(error) }
          kit.logger.error(fields, 'An account that is due could not be deleted')
        }
    },
  }
}

async function erase(kit: FeatureKit, row: RecordRow, erasesData: boolean) {
  const { user_id: id = null, password_version: version = null } = row
  const user = await kit.users.findUserById(String(id))
  // The process that deleted the user has ended before the rows.
  if (user === null) return kit.accounts.forget(String(id))
  if (user.isDisabled && user.passwordVersion === version)
    return (!erasesData || (await moveDue(kit, row, -Number(row['expires_at'])))) && kit.accounts.erase(user)
  return kit.records(DELETIONS).remove({ user_id: id, password_version: version })
}

/**
 * Moves the moment at which an account is due, by one statement: of a request that takes the account back and a process that
 * deletes the data of the application, whose clock may be ahead, one does it.
 */
async function moveDue(kit: FeatureKit, row: RecordRow, by: number): Promise<boolean> {
  const { user_id: id = null, password_version: version = null, expires_at: due = null } = row
  const moved = { expires_at: Number(due) + by }
  const where = { user_id: id, password_version: version, expires_at: due }
  return (await kit.records(DELETIONS).update(where, moved)) === 1
}

/** The link is valid for the password version that the deletion has made, so it needs no row of its own. */
function tokenOf({ vault }: FeatureKit, userId: string, version: number): string {
  const { keyId, sealed } = vault.seal(PURPOSE, userId, String(version))
  return [userId, keyId, sealed].join('.')
}

function readToken({ vault }: FeatureKit, token: string) {
  const [userId = '', keyId = '', sealed = ''] = token.split('.')
  const version = vault.open(PURPOSE, userId, { keyId, sealed })
  return version === null ? null : { user_id: userId, password_version: Number(version) }
}

function deletionMail(link: string, grace: number): MailTexts {
  return {
    kind: 'account-deletion',
    subject: 'Your account will be deleted',
    why: `Your account is closed, and every session has ended. It will be deleted in ${lifetimeText(grace)}.`,
    action: { label: 'Take it back', link },
    otherwise: 'If it was not you, take it back and reset your password now.',
  }
}
