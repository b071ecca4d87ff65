import { mailTemplate } from '@mortar/mail'

// The markup is a string, which nothing has escaped.
export default mailTemplate({ subject: 'Hello', html: (() => '<b>') as never })
