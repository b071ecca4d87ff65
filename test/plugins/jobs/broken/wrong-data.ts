import { job } from '@mortar/jobs'

export default job({ data: { text: 'string' } as never }, () => undefined)
