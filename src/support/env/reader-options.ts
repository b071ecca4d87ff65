import type { OptionRules } from '../check-options.ts'

const ONE_VALUE = { default: 'anything', optional: 'anything', requiredInProduction: 'boolean' } as const
const SECRET = { optional: 'anything', requiredInProduction: 'boolean', strong: 'boolean' } as const

/** Options of each reader, and the position of the options argument. */
export const READERS: Readonly<Record<string, readonly [number, OptionRules]>> = {
  string: [1, { ...ONE_VALUE, example: 'string' }],
  integer: [1, { ...ONE_VALUE, min: 'number', max: 'number' }],
  number: [1, { ...ONE_VALUE, min: 'number', max: 'number' }],
  port: [1, ONE_VALUE],
  boolean: [1, ONE_VALUE],
  url: [1, { ...ONE_VALUE, protocols: 'strings' }],
  list: [1, { ...ONE_VALUE, separator: 'string' }],
  duration: [1, ONE_VALUE],
  bytes: [1, ONE_VALUE],
  oneOf: [2, ONE_VALUE],
  addresses: [1, ONE_VALUE],
  secret: [1, SECRET],
  secrets: [1, SECRET],
}
