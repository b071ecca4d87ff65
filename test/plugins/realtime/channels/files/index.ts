import { channel } from '@mortar/realtime/channels'
import { number, object } from 'mortar/yup'

export default channel({ auth: false, events: { count: object({ number: number().required() }) } })
