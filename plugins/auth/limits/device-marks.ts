import { createHmac, timingSafeEqual } from 'node:crypto'
import { randomToken } from '../tokens/opaque-token.ts'

const ID_BYTES = 16
/** 128 bits that identify the device, and 256 bits of HMAC, in base64url. */
const FORM = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/

/**
 * Marks of browsers that have signed in to an account before (OWASP "Slow Down Online Guessing Attacks with Device
 * Cookies"). A mark only gives its owner a separate budget of failed logins.
 */
export type DeviceMarks = ReturnType<typeof createDeviceMarks>

/** Creates device marks. The first key signs and all verify, so that devices stay known after a new secret. */
export function createDeviceMarks(keys: readonly Buffer[]) {
  return {
    /** @returns the value of a device cookie for an address. The value reveals neither the address nor the time. */
    issue(email: string) {
      const id = randomToken(ID_BYTES)
      return `${id}.${macOf(keys[0]!, id, email).toString('base64url')}`
    },
    /** @returns the identifier of the device if the mark was issued for this address, else undefined. */
    verify(mark: string | null, email: string) {
      const [, id, mac] = FORM.exec(mark ?? '') ?? []
      if (id === undefined || mac === undefined) return undefined
      const given = Buffer.from(mac, 'base64url')
      return keys.some((key) => timingSafeEqual(given, macOf(key, id, email))) ? id : undefined
    },
  }
}

function macOf(key: Buffer, id: string, email: string): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify([id, email]))
    .digest()
}
