import { LAST_OFFSET, listProducts, publicProduct } from '../work/products.js'
import { get, missing, range } from './requests.ts'
import { MAIN_SERVERS, VARIETY, type Workload } from './workload.ts'

/** Workload h. */
export const products: Workload = {
  id: 'h',
  title: 'GET a list of 20 rows of eight fields, a ninth kept back',
  app: 'products',
  size: 0,
  peers: MAIN_SERVERS,
  requests: () => range(VARIETY).map((offset) => get(`/products?offset=${offset}`)),
  checks: () => [
    ...[0, 777, LAST_OFFSET].map((offset) => {
      const { products: rows, total } = listProducts(offset)
      const json = { products: rows.map(publicProduct), total }
      return { request: get(`/products?offset=${offset}`), status: 200, json }
    }),
    { request: get('/products?offset=-1'), status: 422, issues: ['query.offset'] },
    missing,
  ],
}
