/*
 * Every verification computes one argon2 hash of the current cost. For an address without an account, an account
 * without a password and a damaged hash, it verifies a decoy. Remaining difference: a hash of another cost takes that
 * cost until the next login rehashes it. Checked by test/plugins/auth/passwords/passwords.test.ts.
 */
import type { HashOptions } from 'argon2'
import { randomBytes } from 'node:crypto'
import type { Clock, Environment } from 'mortar'
import { installed } from 'mortar/kit'
import { loadArgon2 } from '../password-packages.ts'
import { createHashPool, type HashPool, type HashPoolOptions } from './hash-pool.ts'
import { checkPassword, normalizePassword } from './password-rule.ts'
import { CEILING, isCost, parseStoredHash, type HashCost } from './phc-string.ts'
import { fault } from '../startup-codes.ts'

export { checkPassword }
export type { HashCost, HashPoolOptions }

const VERSION = 0x13
const HASH_LENGTH = 32
const SALT_LENGTH = 16

/** Minimum cost of a password hash: argon2id with 19 MiB, two passes, one lane (OWASP, ASVS 11.4.2). */
export const DEFAULT_COST: HashCost = { memory: 19_456, passes: 2, parallelism: 1 }

/** Result of a verification. */
export interface Verification {
  readonly valid: boolean
  /** The password is correct, but its hash has another kind or cost: store a new one. */
  readonly rehash: boolean
}

/** Hashes and verifies passwords. Each function may throw `ServiceUnavailable` when too many hashes wait. */
export type Passwords = ReturnType<typeof createPasswords>

/** The two functions of argon2; tests count the calls. */
export interface HashEngine {
  hash(password: string, options: HashOptions): Promise<string>
  verify(stored: string, password: string): Promise<boolean>
}

/** Settings of `createPasswords`. */
export interface PasswordsOptions {
  readonly cost?: Partial<HashCost>
  readonly pool?: HashPoolOptions | HashPool
  readonly clock?: Clock
  readonly engine?: HashEngine
}

/** Hashes with argon2id in a bounded pool. @throws StartupError if hashes of this cost could not be verified again. */
export function createPasswords(options: PasswordsOptions = {}) {
  const { engine = loadArgon2(), pool: bounds = {}, clock } = options
  const cost = completeCost(options.cost)
  const pool = 'run' in bounds ? bounds : createHashPool({ ...(clock && { clock }), ...bounds })

  async function hash(password: string): Promise<string> {
    const text = normalizePassword(password)
    if (text === null)
      throw new RangeError('This password cannot be hashed: check it with checkPassword() first.')
    const made = await pool.run(() => engine.hash(text, engineOptions(cost)))
    const stored = made.replace(/\$m=[^$]+/, `$$${parametersOf(cost)}`)
    if (isPresent(stored, cost)) return stored
    throw new Error(
      `${installed('argon2', import.meta.url)} returns a hash of another form, which no password would match. ` +
        'Install the version on which @mortar/auth depends. `npm ls argon2` lists the versions.',
    )
  }

  /** Verifies against a decoy of the current cost; never succeeds. */
  async function decoy(password: string): Promise<Verification> {
    const text = normalizePassword(password) ?? ''
    await pool.run(() => engine.verify(decoyHash(cost), text))
    return { valid: false, rehash: false }
  }

  async function verify(stored: string | null, password: string): Promise<Verification> {
    const text = normalizePassword(password)
    if (text === null || stored === null || !parseStoredHash(stored)) return decoy(password)
    const valid = await pool.run(() => engine.verify(stored, text))
    return { valid, rehash: valid && !isPresent(stored, cost) }
  }

  return {
    /** @returns a PHC string. @throws Error for a version of argon2 with another form; RangeError for a password whose form `checkPassword` refuses. */
    hash,
    /** Verifies a password. Null, a damaged hash and a hash beyond the ceilings are never valid and cost the same. */
    verify,
    /** True if a stored hash can be verified. */
    isUsable: (stored: string) => parseStoredHash(stored) !== null,
    /** @throws ServiceUnavailable if a new hash would currently be refused. */
    refuseWhenFull: () => pool.refuseWhenFull(),
    /** The hashes that run, and those that wait for a place. */
    load: () => ({ running: pool.running, waiting: pool.waiting }),
  }
}

/**
 * Refuses a cost below the recommended minimum in production (ASVS 11.4.2 and appendix C).
 * @throws StartupError `MORTAR_AUTH_HASH_COST`; in every environment for a cost beyond the ceilings.
 */
export function assertCost(cost: Partial<HashCost> | undefined, environment: Environment): void {
  const { memory, passes } = completeCost(cost)
  const least = leastMemory(passes)
  if (environment !== 'production' || memory >= least) return
  throw fault(
    'MORTAR_AUTH_HASH_COST',
    `The cost of password hashes is too low for production: ${memory} KiB, passes: ${passes}.`,
    { remedy: `Use at least ${least} KiB with ${passes} passes, or omit the cost to use the default.` },
  )
}

/** True for a cost that production accepts (ASVS 11.4.2). */
export function isCostForProduction(cost: Partial<HashCost> | undefined): boolean {
  const { memory, passes } = completeCost(cost)
  return memory >= leastMemory(passes)
}

/** KiB, by the number of passes (OWASP Password Storage). */
function leastMemory(passes: number): number {
  return passes >= 3 ? 12_288 : passes === 2 ? 19_456 : 47_104
}

function completeCost(cost: Partial<HashCost> = {}): HashCost {
  const complete = { ...DEFAULT_COST, ...cost }
  if (isCost(complete)) return complete
  throw fault('MORTAR_AUTH_HASH_COST', 'The cost of password hashes is out of range.', {
    remedy:
      `Use 8 KiB for each lane up to ${CEILING.memory} KiB of memory, ` +
      `1 to ${CEILING.passes} passes and 1 to ${CEILING.parallelism} lanes.`,
  })
}

/** The number of argon2id in its specification (RFC 9106 §3.1). */
const ARGON2ID = 2

function engineOptions({ memory, passes, parallelism }: HashCost): HashOptions {
  return {
    type: ARGON2ID,
    version: VERSION,
    hashLength: HASH_LENGTH,
    memoryCost: memory,
    timeCost: passes,
    parallelism,
  }
}

/** Parameter order of libargon2 and its bindings in other languages; node-argon2 uses another order. */
function parametersOf({ memory, passes, parallelism }: HashCost): string {
  return `m=${memory},t=${passes},p=${parallelism}`
}

/** A hash that no password has: its bytes are random. */
function decoyHash(cost: HashCost): string {
  const random = (bytes: number): string => randomBytes(bytes).toString('base64').replace(/=+$/, '')
  return `$argon2id$v=${VERSION}$${parametersOf(cost)}$${random(SALT_LENGTH)}$${random(HASH_LENGTH)}`
}

/** Compares all parameters: argon2's own `needsRehash` ignores the variant and the length of the hash. */
function isPresent(stored: string, cost: HashCost): boolean {
  const found = parseStoredHash(stored)
  return (
    found !== null &&
    found.variant === 'argon2id' &&
    found.version === VERSION &&
    found.hashLength === HASH_LENGTH &&
    found.saltLength === SALT_LENGTH &&
    found.cost.memory === cost.memory &&
    found.cost.passes === cost.passes &&
    found.cost.parallelism === cost.parallelism
  )
}
