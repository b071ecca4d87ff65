import type { Refer } from './generate.ts'
import type { Quick } from './quick.ts'

/** Source text of what `judge` tests: true for a valid value of the type, in the variable `name`, that stays as it is. */
export function quickSource({ type, least, most, rest }: Quick, name: string, refer: Refer): string {
  if (type === 'none') return 'false'
  const tests = [`typeof ${name} === '${type}'`]
  if (type === 'number') tests.push(`${name} >= ${least} && ${name} <= ${most}`)
  if (type === 'string' && least > 0) tests.push(`${name}.length >= ${least}`)
  if (type === 'string' && most < Infinity) tests.push(`${name}.length <= ${most}`)
  if (rest !== undefined) tests.push(`${refer(rest)}(${name})`)
  return tests.join(' && ')
}
