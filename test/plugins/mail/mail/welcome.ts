import { html, mailTemplate } from '@mortar/mail'
import { array, object, string } from 'mortar/yup'

export default mailTemplate({
  data: object({
    name: string().required(),
    links: array(string().max(40).required()).required(),
  }),
  sample: { name: 'Ada', links: ['https://example.com/?a=1&b=2'] },
  subject: ({ name }) => `Welcome, ${name}`,
  html: ({ name, links }) =>
    html`<p title="${name}">Hello ${name}</p>
      ${links.map((link) => html`<a href="${link}">notes</a>`)}`,
})
