import { createMailer, type MailerSettings } from '../mailer.ts'
import { createOutbox } from '../outbox.ts'
import { SAMPLE, type Samples, type Templates } from './templates.ts'

/** Composes templates as the mailer does, for an outbox that exists only for the call. */
export function samplesOf(templates: Templates, settings: MailerSettings): Samples {
  return {
    names: () => templates.files.map(({ name }) => name),
    async open(name) {
      const message = await templates.sample(name)
      if (message === undefined) return undefined
      const outbox = createOutbox({ size: 1, bytes: Infinity })
      await createMailer({ ...settings, transport: 'memory', outbox }).handOver({
        to: 'reader@example.com',
        ...message,
      })
      return { ...outbox.list()[0]!, id: `${SAMPLE}${name}` }
    },
  }
}
