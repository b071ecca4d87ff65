import { date, object, string } from 'yup'

/** A greeting as it leaves the service. */
export const greetingSchema = object({
  id: string().required(),
  name: string().required(),
  text: string().required(),
  created_at: date().required(),
}).label('Greeting')

/** A greeting as it is written. */
export const greetingInput = object({
  name: string().trim().required().max(40),
  text: string().trim().required().max(500),
}).noUnknown()
