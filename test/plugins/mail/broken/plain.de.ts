import { mailTranslation } from '@mortar/mail'
import other from '../mail/reports/nightly.ts'

export default mailTranslation(other, { subject: 'Hallo', text: () => 'Hallo' })
