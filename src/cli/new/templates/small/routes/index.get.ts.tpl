import { route } from '../route.ts'

export default route({ summary: 'What this service is', tags: ['service'] }, () => ({
  name: '{{title}}',
  documentation: '/docs',
}))
