import { object } from 'mortar/yup'
import { job } from '@mortar/jobs'

export default job({ data: object({}), every: '0 3 * * *' }, () => undefined)
