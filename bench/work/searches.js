/* Workload j: a search whose path and query carry letters of many languages. */

export const SORTS = ['price', 'rating', 'distance']

/**
 * The record behind `GET /search/:place/:trade`: its input, a count, and a field that must not leave.
 * @param {{ place: string, trade: string, query: Record<string, unknown> & { page: number, limit: number } }} input
 */
export function findOffers({ place, trade, query }) {
  const { q, page, limit, sort, open, min, max, brand, from, near, ref } = query
  const found = page * limit
  return { place, trade, q, page, limit, sort, open, min, max, brand, from, near, ref, found, cost: 17 }
}

/**
 * The fields by hand, for servers without response schemas.
 * @param {ReturnType<typeof findOffers>} offers
 */
export function publicOffers({
  place,
  trade,
  q,
  page,
  limit,
  sort,
  open,
  min,
  max,
  brand,
  from,
  near,
  ref,
  found,
}) {
  return { place, trade, q, page, limit, sort, open, min, max, brand, from, near, ref, found }
}
