import { job } from '@mortar/jobs'

export default job({ attempts: 3 }, undefined as never)
