import { mailTemplate } from '@mortar/mail'

export default mailTemplate({ subject: 'Report', text: () => 'Nothing happened.' })
