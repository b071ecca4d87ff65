import { mailTemplate } from '@mortar/mail'
import { object, string } from 'mortar/yup'

export default mailTemplate({
  data: object({ name: string().min(9).required() }),
  sample: { name: 'secret-x' },
  subject: 'Hello',
  text: ({ name }) => name,
})
