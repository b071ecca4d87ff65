import { job } from '@mortar/jobs'

// A file of JavaScript can do this.
export default job(null as never, () => undefined)
