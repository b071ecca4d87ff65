import { job } from '@mortar/jobs'

export default job({ every: '61 * * * *' }, () => undefined)
