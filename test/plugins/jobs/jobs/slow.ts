import { deferred } from '../../../support/deferred.ts'
import { job } from '../../../../plugins/jobs/index.ts'

/** Never ends, and ignores its signal. */
export default job({ attempts: 1, timeout: '30ms' }, () => deferred().promise)
