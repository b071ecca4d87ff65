import { PROBLEM_CODES, type ProblemDefinition, type Problems } from './codes.ts'
import { StartupError } from './startup-error.ts'

/** The parts of a problem document that are equal for all problems of one code, as text. */
export interface FixedText {
  /** The document up to `status`. */
  readonly head: string
  /** The member `code`. */
  readonly codeMember: string
}

/** A declared code: its definition and its text. */
export interface KnownProblem extends Required<ProblemDefinition>, FixedText {}

/** The problem codes of one application by name: codes of the core and of its bricks. */
export type ProblemTable = ReadonlyMap<string, KnownProblem>

/** The problem codes of an application without bricks. */
export const CORE_PROBLEMS: ProblemTable = new Map(
  Object.entries(PROBLEM_CODES).map(([code, definition]) => [code, knownProblem(code, definition)]),
)

/** The part of a brick that declares problem codes. */
export interface ProblemOwner {
  readonly name: string
  readonly problems?: Problems
}

/**
 * Merges the problem codes of the core and of the bricks.
 * @throws StartupError `MORTAR_BRICK_PROBLEM` for a code that the core or another brick also declares.
 */
export function problemTable(bricks: readonly ProblemOwner[]): ProblemTable {
  const table = new Map(CORE_PROBLEMS)
  const owners = new Map<string, string>()
  for (const { name, problems = {} } of bricks)
    for (const [code, definition] of Object.entries(problems)) {
      if (table.has(code)) throw declaredTwice(code, name, owners.get(code))
      table.set(code, knownProblem(code, definition))
      owners.set(code, name)
    }
  return table
}

/** Every code of the core and of bricks has a URN; a code of the application is identified by `code` alone. */
function knownProblem(code: string, definition: ProblemDefinition): KnownProblem {
  const entry = { type: `urn:mortar:problem:${code}`, ...definition }
  return { ...entry, ...fixedText(code, entry) }
}

/** Returns the text of the problem documents of a code. */
export function fixedText(code: unknown, { type, title, status }: Required<ProblemDefinition>): FixedText {
  const head = `{"type":${quote(type)},"title":${quote(title)},"status":${status}`
  return { head, codeMember: `,"code":${quote(code)}` }
}

/** JavaScript code may attach any value to an error, even one that JSON cannot express. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined
  return text ?? 'null'
}

function declaredTwice(code: string, brick: string, other: string | undefined): StartupError {
  const first = other === undefined ? 'the core' : `the brick '${other}'`
  return new StartupError(
    `The brick '${brick}' declares the problem code '${code}', which ${first} also declares.`,
    {
      code: 'MORTAR_BRICK_PROBLEM',
      remedy: `Rename the code in the slot problems of '${brick}', for example to '${brick}_${code}'.`,
      brick,
    },
  )
}
