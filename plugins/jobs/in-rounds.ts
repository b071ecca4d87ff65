import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Works on what several callers ask for together. Whoever asks while a round is at work waits for the next one.
 * @param work returns a result for each item, in their order. Its error is that of every caller of the round.
 */
export function inRounds<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let open: { readonly items: Item[]; readonly results: Promise<readonly Result[]> } | undefined
  let last: Promise<unknown> = Promise.resolve()

  function begin(): NonNullable<typeof open> {
    const items: Item[] = []
    const results = last
      .then(() => nextTurn())
      .then(() => {
        open = undefined
        return work(items)
      })
    last = results.catch(() => undefined)
    return { items, results }
  }

  return async (item) => {
    const round = (open ??= begin())
    const place = round.items.push(item) - 1
    return (await round.results)[place]!
  }
}
