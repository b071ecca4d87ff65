import { createHmac, timingSafeEqual } from 'node:crypto'
import type { StoredUser } from '../accounts/auth-store.ts'
import { randomToken } from '../tokens/opaque-token.ts'

/** Bytes of each half of an identifier, and its characters. */
const HALF = 8
const CHARACTERS = 11
/** 64 random bits with 64 bits that belong to the password version, and 256 bits of HMAC, in base64url. */
const FORM = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/

/**
 * Marks of browsers that have signed in to an account before (OWASP "Slow Down Online Guessing Attacks with Device
 * Cookies"). A mark only gives its owner a separate budget of failed logins, and until the password version changes a login
 * without a notice.
 */
export type DeviceMarks = ReturnType<typeof createDeviceMarks>

type MarkedUser = Pick<StoredUser, 'email' | 'passwordVersion'>

/** Creates device marks. The first key signs and all verify, so that devices stay known after a new secret. */
export function createDeviceMarks(keys: readonly Buffer[]) {
  return {
    /** @returns the value of a device cookie for an account. The value reveals neither the address nor the time. */
    issue(user: MarkedUser) {
      const start = randomToken(HALF)
      const id = start + versionOf(keys[0]!, start, user)
      return `${id}.${macOf(keys[0]!, id, user.email).toString('base64url')}`
    },
    /** @returns the identifier of the device if the mark was issued for this address, else undefined. */
    verify(mark: string | null, email: string) {
      const [, id, mac] = FORM.exec(mark ?? '') ?? []
      if (id === undefined || mac === undefined) return undefined
      const given = Buffer.from(mac, 'base64url')
      return keys.some((key) => timingSafeEqual(given, macOf(key, id, email))) ? id : undefined
    },
    /** @returns true if the mark of this verified identifier was issued for the password version of the account. */
    isCurrent(id: string | undefined, user: MarkedUser) {
      const start = id?.slice(0, CHARACTERS) ?? ''
      return keys.some((key) => id === start + versionOf(key, start, user))
    },
  }
}

function macOf(key: Buffer, id: string, email: string): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify([id, email]))
    .digest()
}

function versionOf(key: Buffer, start: string, { email, passwordVersion }: MarkedUser): string {
  const text = JSON.stringify([start, email, passwordVersion])
  return createHmac('sha256', key).update(text).digest().toString('base64url', 0, HALF)
}
