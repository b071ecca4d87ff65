import { channel } from '@mortar/realtime/channels'
import { object, string } from 'mortar/yup'

export default channel({
  auth: false,
  params: object({ path: string().required() }),
  events: { changed: object({ by: string().required() }) },
})
