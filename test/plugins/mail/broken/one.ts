import { mailTemplate } from '@mortar/mail'

export default mailTemplate({ subject: 'Hello', text: () => 'Hi' })
