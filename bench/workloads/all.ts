import { document } from './document.ts'
import { hello } from './hello.ts'
import { guarded, manyTokens, uncached } from './me.ts'
import { notFound } from './missing.ts'
import { notes } from './notes.ts'
import { invalid, order } from './order.ts'
import { products } from './products.ts'
import { search } from './search.ts'
import { evenly, logging, middleware, routes, user } from './user.ts'
import type { Workload } from './workload.ts'

/** Every workload but g, which measures something else. */
export const WORKLOADS: readonly Workload[] = [
  hello,
  user,
  order,
  guarded,
  uncached,
  manyTokens,
  ...routes,
  evenly,
  middleware,
  products,
  document,
  search,
  invalid,
  notFound,
  ...notes,
  logging,
]

/** Parts of e that only `--workloads` measures: the others show the same. */
const OPTIONAL = [
  'e:10:first',
  'e:10:middle',
  'e:100:first',
  'e:100:middle',
  'e:100:last',
  'e:1000:middle',
  'e:10000:first',
  'e:10000:middle',
]

/** The workloads of a whole run, g among them. */
export const WHOLE_RUN = [...WORKLOADS.map(({ id }) => id), 'g'].filter((id) => !OPTIONAL.includes(id))

/** Names that `--workloads` accepts. */
export const KNOWN = [...WORKLOADS.map(({ id }) => id), 'g']
