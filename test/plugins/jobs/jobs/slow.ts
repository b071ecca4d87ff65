import { deferred } from '../../../support/deferred.ts'
import { job } from '@mortar/jobs'

/** Never ends, and ignores its signal. */
export default job({ attempts: 1, timeout: '30ms' }, () => deferred().promise)
