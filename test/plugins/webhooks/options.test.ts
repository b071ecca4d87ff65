import { expect } from 'chai'
import { webhookEvent, webhooks } from '@mortar/webhooks'
import { object } from 'mortar/yup'
import { invoicePaid } from './events.ts'

describe('The options of webhooks()', () => {
  const wrong: Record<string, object> = {
    'no events': {},
    'a name with a space': { events: [webhookEvent('invoice paid', object())] },
    'two events of one name': { events: [invoicePaid, webhookEvent('invoice.paid', object())] },
    'no attempts': { events: [], attempts: 0 },
    'no delivery to an endpoint': { events: [], perEndpoint: 0 },
    'the name of an event in place of the event': { events: ['invoice.paid'] },
    'null in place of an event': { events: [null] },
    'a wrong duration': { events: [], timeout: 'soon' },
    'a wrong network': { events: [], allowNetworks: ['10.0.0.0'] },
    'an unknown key': { events: [], retries: 3 },
  }
  for (const [title, options] of Object.entries(wrong))
    it(`refuse ${title}`, () =>
      expect(() => webhooks(options as never))
        .to.throw()
        .that.includes({ code: 'MORTAR_WEBHOOKS_OPTION' }))
})
