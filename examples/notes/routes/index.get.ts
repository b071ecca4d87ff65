import { defineRoute } from 'mortar'
import { settings } from '../config/settings.ts'

export default defineRoute({ summary: 'What this service is', tags: ['service'] }, () => ({
  name: 'Notes',
  documentation: '/docs',
  // Production has no such page.
  ...(settings.environment === 'production' ? {} : { mail: '/_framework/mail' }),
}))
