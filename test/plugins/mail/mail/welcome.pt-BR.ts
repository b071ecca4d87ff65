import { mailTranslation } from '@mortar/mail'
import welcome from './welcome.ts'

export default mailTranslation(welcome, { subject: 'Bem-vinda', text: ({ name }) => name })
