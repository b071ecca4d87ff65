/** Maximum size of a value in a message. Printing a larger hostile value would cost more than reading it. */
const MOST_MEMBERS = 200
const MOST_CHARACTERS = 2_000
const DEEPEST = 16

/**
 * Returns the value itself if a message can quote it, else a replacement that prints as `…`. yup quotes by indented
 * JSON, whose size is the square of the nesting, and which throws for cycles and bigints. A long string is cut.
 */
export function showable(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'string' && value.length > MOST_CHARACTERS)
    return `${value.slice(0, MOST_CHARACTERS)}…`
  if (typeof value !== 'object' || value === null) return value
  return hasRoom(value, DEEPEST, { members: MOST_MEMBERS, characters: MOST_CHARACTERS }) ? value : STAND_IN
}

const STAND_IN = Object.freeze({ toJSON: () => '…' })

interface Room {
  members: number
  characters: number
}

function hasRoom(value: unknown, depth: number, budget: Room): boolean {
  if (typeof value === 'bigint') return false
  if (typeof value === 'string') return (budget.characters -= value.length) >= 0
  if (typeof value !== 'object' || value === null) return true
  if (depth === 0 || (budget.members -= 1) < 0) return false
  for (const key in value) {
    budget.members -= 1
    budget.characters -= key.length
    if (
      budget.members < 0 ||
      budget.characters < 0 ||
      !hasRoom((value as Record<string, unknown>)[key], depth - 1, budget)
    )
      return false
  }
  return true
}
