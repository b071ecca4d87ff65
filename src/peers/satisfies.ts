type Version = readonly [major: number, minor: number, patch: number]

/**
 * Compares a version with a range of `peerDependencies`: `^1.2.3`, `>=1.2.3`, `1.2.3`, and alternatives with `||`. A range
 * that is written in another way is satisfied by every version.
 */
export function satisfies(version: string, range: string): boolean {
  const found = parse(version)
  return found === undefined || range.split('||').some((part) => matches(found, part.trim()))
}

function matches(version: Version, part: string): boolean {
  const [, operator = '', text = ''] = /^(\^|>=|)\s*(\d+(?:\.\d+){0,2})$/.exec(part) ?? []
  const least = parse(text)
  if (least === undefined) return true
  if (operator === '') return compare(version, least) === 0
  return compare(version, least) >= 0 && (operator === '>=' || compare(version, ceilingOf(least)) < 0)
}

/** The first version that `^` excludes: the leftmost number that is not 0 must stay. */
function ceilingOf([major, minor, patch]: Version): Version {
  if (major > 0) return [major + 1, 0, 0]
  return minor > 0 ? [0, minor + 1, 0] : [0, 0, patch + 1]
}

/** A prerelease counts as its release. */
function parse(text: string): Version | undefined {
  const [, major, minor = '0', patch = '0'] = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(text) ?? []
  return major === undefined ? undefined : [Number(major), Number(minor), Number(patch)]
}

function compare(one: Version, other: Version): number {
  const index = one.findIndex((number, place) => number !== other[place])
  return index < 0 ? 0 : one[index]! - other[index]!
}
