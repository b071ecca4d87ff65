import { job } from '@mortar/jobs'

export default job({}, () => undefined)
