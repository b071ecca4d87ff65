import { channel } from '@mortar/realtime/channels'
import { object } from 'mortar/yup'

export default channel({ auth: true, events: { added: object() }, keep: 0 })
