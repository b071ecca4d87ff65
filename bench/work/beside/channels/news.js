import { channel } from '@mortar/realtime/channels'
import { object, string } from 'mortar/yup'

export default channel({ auth: false, events: { said: object({ text: string().required() }) } })
