import type { StoredUser } from '../../accounts/auth-store.ts'
import { everyRow, NEVER, type RecordRow, type Records } from '../../accounts/records.ts'
import { despiteLostReply } from '../../flows/lost-reply.ts'
import { hashToken, randomToken } from '../../tokens/opaque-token.ts'
import type { FeatureKit } from '../feature.ts'
import { removeWayIn } from '../remove-way-in.ts'
import { PASSKEYS } from './table.ts'
import type { NewPasskey } from './verify.ts'
import { refused } from '../../refusals.ts'

/** A passkey, as its user sees it. Dates are ISO strings. */
export interface Passkey {
  readonly id: string
  readonly name: string
  /** Model of the authenticator, for a name and a picture; zeros if it is not known. */
  readonly aaguid: string
  /** True if it is synchronised to other devices. */
  readonly backedUp: boolean
  readonly createdAt: string
  readonly lastUsedAt: string | null
}

/** A new passkey of a user, and the handle under which the authenticator keeps it. */
export interface PasskeyToStore extends NewPasskey {
  readonly userHandle: string
  readonly name: string
}

/** Bytes of a user handle. It is random, so that no authenticator stores an address (WebAuthn §14.6.1). */
const HANDLE = 32

/** The passkeys of one application. */
export class StoredPasskeys {
  readonly #kit: FeatureKit
  readonly #records: Records

  constructor(kit: FeatureKit) {
    this.#kit = kit
    this.#records = kit.records(PASSKEYS)
  }

  async find(credentialId: string): Promise<RecordRow | undefined> {
    const [row] = await this.#records.find({ id: idOf(credentialId) })
    return row
  }

  /** The rows of a user, the oldest first. */
  async rowsOf(userId: string): Promise<readonly RecordRow[]> {
    const rows = await this.#records.find({ user_id: userId })
    return rows.toSorted((a, b) => Number(a['created_at']) - Number(b['created_at']))
  }

  /** The handle of a user's passkeys, or a new one. */
  handleOf([row]: readonly RecordRow[]): string {
    return row === undefined ? randomToken(HANDLE) : String(row['user_handle'])
  }

  /** @returns null if somebody has this passkey already. */
  async add({ id: userId }: StoredUser, made: PasskeyToStore): Promise<Passkey | null> {
    const row = {
      id: idOf(made.credentialId),
      user_id: userId,
      credential_id: made.credentialId,
      user_handle: made.userHandle,
      public_key: made.publicKey,
      name: made.name,
      aaguid: made.aaguid,
      algorithm: made.algorithm,
      counter: made.counter,
      backed_up: Number(made.isBackedUp),
      last_used_at: null,
      created_at: this.#kit.clock.now(),
      expires_at: NEVER,
    }
    const isStored = await despiteLostReply(
      () => this.#records.insert(row),
      async () => {
        const [{ user_id: owner, created_at: at } = {}] = await this.#records.find({ id: row.id })
        return owner === userId && at === row.created_at
      },
    )
    return isStored ? shown(row) : null
  }

  /**
   * Stores the use of a passkey by one statement. A counter must rise; synchronised passkeys always have 0.
   * @returns false if the counter has not risen, and for a passkey that was removed.
   */
  async use({ id = null }: RecordRow, { counter, isBackedUp }: Pick<NewPasskey, 'counter' | 'isBackedUp'>) {
    const before = counter === 0 ? 0 : { atMost: counter - 1 }
    const use = { counter, backed_up: Number(isBackedUp), last_used_at: this.#kit.clock.now() }
    return (await this.#records.update({ id, counter: before }, use)) === 1
  }

  /** @returns false if the user has no such passkey. @throws Conflict `last_way_in`. */
  async remove(user: StoredUser, id: string): Promise<boolean> {
    const [row] = await this.#records.find({ id, user_id: user.id })
    if (row === undefined) return false
    if ((await this.#kit.waysIn(user)) < 2) throw refused('last_way_in')
    return removeWayIn(this.#kit, this.#records, { user, row })
  }

  /** Removes a passkey whatever is left. */
  async drop({ id = null, user_id: userId = null }: RecordRow): Promise<void> {
    await this.#records.remove({ id, user_id: userId })
  }

  async usersWith(userIds: readonly string[]): Promise<ReadonlySet<string>> {
    // A user may have several.
    const rows = await everyRow({ shape: PASSKEYS, records: this.#records }, { user_id: { anyOf: userIds } })
    return new Set(rows.map((row) => String(row['user_id'])))
  }
}

/** `credentialId` as `verifyRegistration` spells it, which is the spelling of browsers. */
function idOf(credentialId: string): string {
  return hashToken('passkey', credentialId)
}

/** Returns a row as its user sees it. */
export function shown(row: RecordRow): Passkey {
  const { last_used_at: usedAt } = row
  return {
    id: String(row['id']),
    name: String(row['name']),
    aaguid: String(row['aaguid']),
    backedUp: row['backed_up'] === 1,
    createdAt: new Date(Number(row['created_at'])).toISOString(),
    lastUsedAt: typeof usedAt === 'number' ? new Date(usedAt).toISOString() : null,
  }
}
