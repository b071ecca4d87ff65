import { StartupError } from '../errors/startup-error.ts'
import type { AnyBrick } from './brick.ts'

/** Prefix of the start-up codes of this package. Its own bricks put the prefix before their names. */
const PACKAGE_PREFIX = 'MORTAR_'

/**
 * Checks names and definitions of the codes that a brick declares.
 * @throws StartupError `MORTAR_BRICK_CODE`.
 */
export function checkCodes({ name, problems = {}, startupCodes = {} }: AnyBrick): void {
  for (const [code, definition] of Object.entries(problems)) {
    if (!/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(code))
      throw wrongCode(
        name,
        `the problem code '${code}'`,
        "Write it in lower case with underscores: 'counter_full'.",
      )
    if (!isProblem(definition))
      throw wrongCode(
        name,
        `the problem code '${code}' without a status from 400 to 599 and a title`,
        `Write ${code}: { status: 409, title: 'Summary of the problem' }.`,
      )
  }
  const prefix = `${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}_`
  for (const [code, entry] of Object.entries(startupCodes)) {
    if (!isStartupCode(code, prefix))
      throw wrongCode(
        name,
        `the start-up code '${code}'`,
        `Begin it with the name of the brick: ${prefix}OPTION.`,
      )
    if (!isText(entry?.cause) || !isText(entry.remedy))
      throw wrongCode(
        name,
        `the start-up code '${code}' without a cause and a remedy`,
        `Write ${code}: { cause: 'What is wrong.', remedy: 'What to do.' }.`,
      )
  }
}

/**
 * Refuses a start-up code that two bricks declare, because a code identifies one fault.
 * @throws StartupError `MORTAR_BRICK_CODE` naming both bricks.
 */
export function refuseSharedCodes(bricks: readonly AnyBrick[]): void {
  const owners = new Map<string, string>()
  for (const { name, startupCodes = {} } of bricks)
    for (const code of Object.keys(startupCodes)) {
      const other = owners.get(code)
      if (other !== undefined)
        throw wrongCode(
          name,
          `the start-up code '${code}', which the brick '${other}' also declares`,
          'Rename it in one of the two bricks.',
        )
      owners.set(code, name)
    }
}

function isStartupCode(code: string, prefix: string): boolean {
  const begins = [prefix, PACKAGE_PREFIX].some((begin) => code.startsWith(begin))
  return begins && /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/.test(code)
}

function isProblem(definition: unknown): boolean {
  const { status, title } = (definition ?? {}) as { readonly status?: unknown; readonly title?: unknown }
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599 && isText(title)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function wrongCode(brick: string, what: string, remedy: string): StartupError {
  return new StartupError(`The brick '${brick}' declares ${what}.`, {
    code: 'MORTAR_BRICK_CODE',
    remedy,
    brick,
  })
}
