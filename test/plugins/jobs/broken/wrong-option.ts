import { job } from '@mortar/jobs'

export default job({ atempts: 3 } as object, () => undefined)
