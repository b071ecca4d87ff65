import { problemErrors, type Problems } from 'mortar/kit'

/** The problem codes that callers can receive; `docs/webhooks.md` has the same table. */
export const PROBLEMS = {
  webhook_not_found: { status: 404, title: 'Webhook not found' },
  webhook_url_refused: { status: 422, title: 'Webhook address refused' },
  webhook_event_unknown: { status: 422, title: 'Unknown webhook event' },
  webhook_signature_invalid: { status: 401, title: 'Webhook signature not valid' },
} as const satisfies Problems

/** Makes an error with one of these codes. */
export const problem = problemErrors(PROBLEMS)
