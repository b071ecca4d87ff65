import { createOrder, publicOrder } from '../work/data.js'
import { missing, post, range } from './requests.ts'
import { MAIN_SERVERS, SERVERS, VARIETY, type Check, type Workload } from './workload.ts'

/** Workload c. */
export const order: Workload = {
  id: 'c',
  title: 'POST of a nested 10-field body, validated, 201',
  app: 'order',
  size: 0,
  peers: SERVERS,
  status: 201,
  requests: () => range(VARIETY).map((index) => post('/orders', JSON.stringify(orderOf(index)))),
  checks: orderChecks,
}

/** Workload k. */
export const invalid: Workload = {
  id: 'k',
  title: 'the same body with three invalid fields, 422 with three issues',
  app: 'order',
  size: 0,
  peers: MAIN_SERVERS,
  morePeers: SERVERS,
  status: 422,
  requests: () => range(VARIETY).map((index) => post('/orders', JSON.stringify(invalidOrder(index)))),
  checks: () => [
    {
      request: post('/orders', JSON.stringify(invalidOrder(5))),
      status: 422,
      issues: ['body.address.zip', 'body.currency', 'body.items[1].quantity'],
    },
    ...orderChecks(),
  ],
}

function orderChecks(): Check[] {
  const valid = orderOf(3)
  const wrong = (changes: object, issues: readonly string[]): Check => ({
    request: post('/orders', JSON.stringify({ ...valid, ...changes })),
    status: 422,
    issues,
  })
  return [
    { request: post('/orders', JSON.stringify(valid)), status: 201, json: publicOrder(createOrder(valid)) },
    wrong({ reference: undefined, currency: 'XXX' }, ['body.currency', 'body.reference']),
    wrong({ address: { ...valid.address, zip: '1234' } }, ['body.address.zip']),
    wrong({ customer: { ...valid.customer, email: 'nobody' } }, ['body.customer.email']),
    wrong({ items: [{ sku: 'a', quantity: 0 }] }, ['body.items[0].quantity']),
    { request: post('/orders', '{"reference":'), status: 400 },
    missing,
  ]
}

/** Bodies of some 430 bytes. */
function orderOf(index: number) {
  return {
    reference: `order-${2026_000 + index}`,
    customer: { name: `Customer number ${index}`, email: `customer${index}@example.com` },
    address: { street: `${index} Long Street`, city: 'Springfield', zip: String(10_000 + index) },
    currency: ['EUR', 'USD', 'GBP'][index % 3],
    express: index % 2 === 0,
    items: range(3).map((item) => ({ sku: `sku-${index}-${item}`, quantity: item + 1 })),
    note: 'Leave it with the neighbours when nobody is in.',
  }
}

function invalidOrder(index: number) {
  const valid = orderOf(index)
  const items = valid.items.map((item, place) => (place === 1 ? { ...item, quantity: 100 + index } : item))
  return { ...valid, address: { ...valid.address, zip: `Z${index}` }, currency: `C${index}`, items }
}
