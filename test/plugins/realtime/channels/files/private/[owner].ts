import { channel } from '@mortar/realtime/channels'
import { object, string } from 'mortar/yup'

export default channel({ auth: 'owner', events: { message: object({ text: string().required() }) } })
