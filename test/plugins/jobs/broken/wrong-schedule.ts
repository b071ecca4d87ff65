import { job } from '../../../../plugins/jobs/index.ts'

export default job({ every: '61 * * * *' }, () => undefined)
