import { channel } from '@mortar/realtime/channels'

export default channel({ auth: true, events: { added: 1 as never } })
