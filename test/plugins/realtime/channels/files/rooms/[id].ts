import { channel } from '@mortar/realtime/channels'
import { number, object, string } from 'mortar/yup'

export default channel({
  auth: true,
  params: object({ id: string().max(40).required() }),
  events: { message: object({ text: string().required() }), count: object({ number: number().required() }) },
  presence: true,
})
