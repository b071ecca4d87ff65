import { defineRoute } from 'mortar'

export default defineRoute({ summary: 'What this service is', tags: ['service'] }, () => ({
  name: 'Notes',
  documentation: '/docs',
  mail: '/_framework/mail',
}))
