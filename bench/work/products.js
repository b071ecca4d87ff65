/* Workload h: rows in memory, 20 of which go into each response. */

/** @param {number} index */
function productOf(index) {
  const number = String(index).padStart(12, '0')
  return {
    id: `0b6f5a52-7c1d-4f0e-9a3b-${number}`,
    name: index % 4 === 0 ? `Crème brûlée set no. ${index}` : `Kitchen scale no. ${index}`,
    description: `Batch ${index * 7}: a solid everyday product with two years of warranty and free returns.`,
    category: ['kitchen', 'garden', 'office'][index % 3],
    price: Math.round(index * 137 + 499) / 100,
    quantity: index % 250,
    active: index % 5 !== 0,
    created_at: new Date(1_700_000_000_000 + index * 61_007).toISOString(),
    supplier: 'must not leave',
  }
}

const ROWS = 20
/** The largest offset that still finds 20 rows. */
export const LAST_OFFSET = 40_000
const total = LAST_OFFSET + ROWS
/** @type {ReturnType<typeof productOf>[] | undefined} */
let all

/**
 * The record behind `GET /products?offset=`.
 * @param {number} offset
 */
export function listProducts(offset) {
  all ??= Array.from({ length: total }, (_, index) => productOf(index))
  return { products: all.slice(offset, offset + ROWS), total }
}

/**
 * The eight fields by hand, for servers without response schemas.
 * @param {ReturnType<typeof productOf>} product
 */
export function publicProduct({ id, name, description, category, price, quantity, active, created_at }) {
  return { id, name, description, category, price, quantity, active, created_at }
}
