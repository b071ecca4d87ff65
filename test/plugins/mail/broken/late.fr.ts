import { mailTemplate } from '@mortar/mail'

// The suffix is that of a translation.
export default mailTemplate({ subject: 'Hello', text: () => 'Hello' })
