import { date, object, string } from 'mortar/yup'

/** A greeting in a response. */
export const greetingSchema = object({
  id: string().required(),
  name: string().required(),
  text: string().required(),
  created_at: date().required(),
}).label('Greeting')

/** A greeting in a request. */
export const greetingInput = object({
  name: string().trim().required().max(40),
  text: string().trim().required().max(500),
}).noUnknown()
