import { object } from 'mortar/yup'
import { job } from '../../../../../plugins/jobs/index.ts'

export default job({ data: object({}), every: '0 3 * * *' }, () => undefined)
