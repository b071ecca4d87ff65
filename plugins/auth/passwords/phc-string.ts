/** Cost of an argon2 hash. */
export interface HashCost {
  /** KiB. */
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

/** A parsed argon2 hash; lengths in bytes. */
export interface StoredHash {
  readonly variant: 'argon2id' | 'argon2i' | 'argon2d'
  /** 0x13 is the current version. */
  readonly version: number
  readonly cost: HashCost
  readonly saltLength: number
  readonly hashLength: number
}

/** Ceilings of the cost: an attacker who can write a row must not make the server compute for minutes. */
export const CEILING: HashCost = { memory: 256 * 1024, passes: 10, parallelism: 16 }

const LONGEST = 512
const FORM = /^\$(argon2id|argon2i|argon2d)(?:\$v=(\d{1,3}))?\$([^$]+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/
const PARAMETER = /^([mtp])=(\d{1,10})$/
/** Version of a string without one. */
const FIRST_VERSION = 0x10

/**
 * Parses a PHC string of argon2. @returns null for a malformed string, a cost beyond the ceilings, and impossible
 * lengths: such a string cannot verify a password.
 */
export function parseStoredHash(stored: string): StoredHash | null {
  const match = stored.length <= LONGEST ? FORM.exec(stored) : null
  if (!match) return null
  const [, variant, version, parameters, salt, hash] = match
  const cost = readCost(parameters!)
  if (!cost) return null
  const parsed = {
    variant: variant as StoredHash['variant'],
    version: version === undefined ? FIRST_VERSION : Number(version),
    cost,
    saltLength: base64Length(salt!),
    hashLength: base64Length(hash!),
  }
  return isUsable(parsed) ? parsed : null
}

/** Exactly the three parameters, in any order: node-argon2 writes `m,p,t`, other libraries `m,t,p`. */
function readCost(text: string): HashCost | null {
  const pairs = text.split(',').map((each) => PARAMETER.exec(each))
  const values = new Map(pairs.map((pair) => [pair?.[1], Number(pair?.[2])]))
  const [memory, passes, parallelism] = [values.get('m'), values.get('t'), values.get('p')]
  if (pairs.length !== 3 || memory === undefined || passes === undefined || parallelism === undefined)
    return null
  return { memory, passes, parallelism }
}

function isUsable({ version, cost, saltLength, hashLength }: StoredHash): boolean {
  const isWithin = (value: number, least: number, most: number): boolean => value >= least && value <= most
  return (
    (version === FIRST_VERSION || version === 0x13) &&
    isCost(cost) &&
    isWithin(saltLength, 8, 64) &&
    isWithin(hashLength, 16, 64)
  )
}

/** True if argon2 accepts this cost (RFC 9106 §3.1: at least 8 KiB per lane) and the ceilings allow it. */
export function isCost({ memory, passes, parallelism }: HashCost): boolean {
  const isWithin = (value: number, least: number, most: number): boolean =>
    Number.isInteger(value) && value >= least && value <= most
  return (
    isWithin(parallelism, 1, CEILING.parallelism) &&
    isWithin(passes, 1, CEILING.passes) &&
    isWithin(memory, 8 * parallelism, CEILING.memory)
  )
}

function base64Length(text: string): number {
  return Math.floor((text.length * 3) / 4)
}
