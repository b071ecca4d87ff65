const UNITS = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 } as const
const FORM = /^(\d+(?:\.\d+)?)\s*(b|kb|mb|gb)$/i

/** A size: bytes, or a number with a unit: `'512b'`, `'64kb'`, `'1mb'`. One kilobyte is 1,024 bytes. */
export type Size = number | string

/**
 * @returns the size in whole bytes.
 * @throws RangeError unless the value is a non-negative finite number or a number with a unit.
 */
export function bytes(size: Size): number {
  const value = typeof size === 'number' ? size : parse(size)
  if (!Number.isFinite(value) || value < 0)
    throw new RangeError(`'${size}' is not a size: write bytes, or a number with b, kb, mb or gb ('1mb').`)
  return Math.floor(value)
}

/** True for a size that `bytes` accepts. */
export function isSize(value: unknown): boolean {
  if (typeof value !== 'number' && typeof value !== 'string') return false
  try {
    bytes(value)
    return true
  } catch {
    return false
  }
}

function parse(text: string): number {
  const match = FORM.exec(text.trim())
  return match ? Number(match[1]) * UNITS[match[2]!.toLowerCase() as keyof typeof UNITS] : Number.NaN
}
