import { channel } from '@mortar/realtime/channels'
import { object, string } from 'mortar/yup'

export default channel({ auth: true, params: object({ room: string() }), events: { message: object() } })
