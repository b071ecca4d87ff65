import { webhookEvent, type WebhooksOptions } from '@mortar/webhooks'
import { object, string } from 'mortar/yup'

export const invoicePaid = webhookEvent('invoice.paid', object({ invoice: string().max(20).required() }))
/** Options with which webhooks reach a receiver on this machine. */
export const LOCAL: Pick<WebhooksOptions, 'http' | 'allowNetworks'> = {
  http: true,
  allowNetworks: ['127.0.0.0/8'],
}
