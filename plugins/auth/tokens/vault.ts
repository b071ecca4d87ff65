import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { SealKey } from './keys.ts'

/** Bytes of the nonce and of the tag (NIST SP 800-38D). The nonce is random: far fewer than 2^32 texts have one key. */
const NONCE = 12
const TAG = 16

/** A text that is readable with the secret of the application alone. */
export interface Sealed {
  readonly sealed: string
  /** Id of the key, for a look-up of the texts that need a secret. */
  readonly keyId: string
}

/** Seals texts that must be read again, such as the seeds of one-time codes (ASVS 11.3.2, 13.3.1). */
export type Vault = ReturnType<typeof createVault>

/** Creates the vault: AES-256-GCM, with purpose and owner as authenticated data, so that no text can be moved. */
export function createVault(keys: readonly SealKey[]) {
  const first = keys[0]!
  return {
    /** Ids of the keys in the order of the secrets: the first seals, all open. */
    keyIds: keys.map(({ id }) => id),
    /** Seals text for one purpose and one owner. */
    seal(purpose: string, owner: string, text: string) {
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv('aes-256-gcm', first.key, nonce)
      cipher.setAAD(boundTo(purpose, owner))
      const bytes = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return { sealed: bytes.toString('base64url'), keyId: first.id }
    },
    /** @returns the text; null if no secret opens it, or if it was sealed for another purpose or owner. */
    open(purpose: string, owner: string, { sealed, keyId }: Sealed) {
      const key = keys.find(({ id }) => id === keyId)?.key
      const bytes = Buffer.from(sealed, 'base64url')
      if (key === undefined || bytes.length < NONCE + TAG) return null
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE), { authTagLength: TAG })
      decipher.setAAD(boundTo(purpose, owner)).setAuthTag(bytes.subarray(-TAG))
      try {
        return decipher.update(bytes.subarray(NONCE, -TAG), undefined, 'utf8') + decipher.final('utf8')
      } catch {
        return null
      }
    },
  }
}

function boundTo(purpose: string, owner: string): Buffer {
  return Buffer.from(JSON.stringify([purpose, owner]))
}
