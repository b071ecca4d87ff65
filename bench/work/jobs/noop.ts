import { job } from '@mortar/jobs'
import { number, object } from 'mortar/yup'

/** Number of attempts that have run. */
export const done = { count: 0 }

/** Does nothing, so that a measurement is that of the queue. */
export default job({ data: object({ order: number().required() }) }, () => {
  done.count++
})
