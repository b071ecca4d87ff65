/**
 * The seed of every random test in this run: `TEST_SEED`, else a new one in CI (where `CI` is set), else always the same.
 * The closing report prints it; `TEST_SEED=<n> npm test` repeats a run. It is left in the environment, so that worker
 * processes of a parallel run share it.
 */
const RUN_SEED = Number(
  process.env.TEST_SEED ?? (process.env.CI ? Math.floor(Math.random() * 2 ** 31) : 20_261_120),
)
process.env.TEST_SEED = String(RUN_SEED)

/**
 * Returns the number of cases of a random test: all in CI, a quarter in a run by hand. `TEST_CASES` sets another share, such as 10
 * for ten times as many.
 */
export function casesOf(full: number): number {
  return Math.ceil(full * Number(process.env.TEST_CASES ?? (process.env.CI ? 1 : 0.25)))
}

/** Returns the seed of one random test, a whole number below 2³¹: the same for one name in one run. */
export function seedFor(name: string): number {
  let hash = RUN_SEED >>> 0
  for (const character of name) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193) >>> 0
  return hash >>> 1
}
