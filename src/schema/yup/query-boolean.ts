import type { BooleanSchema } from 'yup'
import { loadYup } from '../../support/lazy-packages.ts'

const TRUE = /^(?:true|1|yes|on)$/i
const FALSE = /^(?:false|0|no|off)$/i

/**
 * A yup boolean for query strings and forms: `true`, `1`, `yes`, `on` are true and `false`, `0`, `no`, `off` are false,
 * in upper or lower case; any other text is an issue. Chain as usual: `queryBoolean().default(false)`.
 */
export function queryBoolean(): BooleanSchema<boolean | undefined> {
  return loadYup().boolean().transform(readSwitch)
}

/** True for the transform that `queryBoolean()` adds. */
export function isSwitchTransform(transform: unknown): boolean {
  return transform === readSwitch
}

function readSwitch(value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (TRUE.test(value)) return true
  return FALSE.test(value) ? false : value
}
