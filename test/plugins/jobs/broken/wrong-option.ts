import { job } from '../../../../plugins/jobs/index.ts'

export default job({ atempts: 3 } as object, () => undefined)
