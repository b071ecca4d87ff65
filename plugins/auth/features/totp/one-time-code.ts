import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Seconds of a step, and digits of a code: the values that every authenticator supports. */
const STEP = 30
const DIGITS = 6
/** Steps by which the clock of an authenticator may differ. */
const DRIFT = 1
/** 160 bits, the output of SHA-1 (RFC 4226 §4, R6). */
const SECRET_BYTES = 20

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Makes a random secret in base32. */
export function randomSecret(): string {
  return base32(randomBytes(SECRET_BYTES))
}

/**
 * The code of a secret in a step of 30 seconds: TOTP with SHA-1 and six digits (RFC 6238). Own code, because it is
 * shorter than the check of a library's state: tests compare it with the vectors of the RFC.
 * @param secret in base32
 */
export function codeAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  // RFC 4226 §5.3: the last four bits choose 31 bits.
  const number = mac.readUInt32BE(mac[mac.length - 1]! & 0xf) & 0x7fff_ffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** Returns the step of a moment in milliseconds since the epoch. */
export function stepAt(now: number): number {
  return Math.floor(now / 1000 / STEP)
}

/**
 * Returns the step whose code this is, at most one step from now; undefined for a wrong code. Every step is compared, in
 * constant time.
 */
export function stepOf(secret: string, code: string, now: number): number | undefined {
  const given = Buffer.from(code)
  let found: number | undefined
  for (let step = stepAt(now) - DRIFT; step <= stepAt(now) + DRIFT; step++) {
    const right = Buffer.from(codeAt(secret, step))
    if (given.length === right.length && timingSafeEqual(given, right)) found = step
  }
  return found
}

/** The address that an authenticator reads, mostly from a QR code that the page draws. */
export function otpauthUri(secret: string, issuer: string, account: string): string {
  const label = [issuer, account].map(encodeURIComponent).join(':')
  const parameters = {
    secret,
    issuer: encodeURIComponent(issuer),
    algorithm: 'SHA1',
    digits: DIGITS,
    period: STEP,
  }
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${value}`)
  return `otpauth://totp/${label}?${query.join('&')}`
}

/** Encodes bytes in base32 without padding (RFC 4648 §6). The number of bytes is a multiple of five. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five, 2)]).join('')
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((each) => ALPHABET.indexOf(each).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}
