const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32
const PURPOSE = 'mortar cookie encryption'

/**
 * AES-256-GCM with a key derived from each of the application's keys (HKDF-SHA256, RFC 5869) and a random nonce. The
 * name of the cookie is authenticated with its value, so that a value is valid for one cookie only. The format is
 * base64url of nonce, ciphertext and tag.
 * @param keys the first key encrypts, all keys decrypt.
 */
export function createCookieCipher(keys: readonly string[]) {
  const crypto = process.getBuiltinModule('node:crypto')
  const derived = keys.map((key) => Buffer.from(crypto.hkdfSync('sha256', key, '', PURPOSE, KEY_BYTES)))

  function openWith(key: Buffer, name: string, bytes: Buffer): string | undefined {
    const tag = bytes.length - TAG_BYTES
    const decipher = crypto.createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(tag))
    try {
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, tag)), decipher.final()]).toString()
    } catch {
      // Another key, another name, or a modified value.
      return undefined
    }
  }

  return {
    /** Encrypts a value for the cookie with this name, with the first key. */
    seal(name: string, value: string) {
      const nonce = crypto.randomBytes(NONCE_BYTES)
      const cipher = crypto.createCipheriv('aes-256-gcm', derived[0]!, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(Buffer.from(name))
      return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]).toString(
        'base64url',
      )
    },
    /** Decrypts a value that was sealed for this name with any of the keys; else undefined. */
    open(name: string, sealed: string) {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
      for (const key of derived) {
        const value = openWith(key, name, bytes)
        if (value !== undefined) return value
      }
      return undefined
    },
  }
}
