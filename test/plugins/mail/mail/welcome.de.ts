import { html, mailTranslation } from '@mortar/mail'
import welcome from './welcome.ts'

export default mailTranslation(welcome, {
  subject: ({ name }) => `Willkommen, ${name}`,
  text: ({ name }) => `Hallo ${name} <3`,
  html: ({ name }) => html`<p>Hallo ${name}</p>`,
})
