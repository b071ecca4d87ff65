import { createRequire } from 'node:module'
import type * as Nodemailer from 'nodemailer'
import type { MailMessage } from 'mortar'

/** A composed message with both texts. */
export type ComposedMessage = MailMessage & {
  readonly to: string[]
  readonly text: string
  readonly html: string
}

/** The contents of a message about an account. */
export interface MessageParts {
  readonly to: string
  readonly subject: string
  /** The reason of the mail, as a sentence. */
  readonly why: string
  readonly action?: { readonly label: string; readonly link: string }
  /** Advice for a user who did not do it, as a sentence. */
  readonly otherwise: string
}

/** Composes a message about an account, as plain text and as HTML. */
export function messageOf({ to, subject, why, action, otherwise }: MessageParts): ComposedMessage {
  const text = [why, ...(action ? [`${action.label}:\n${action.link}`] : []), otherwise].join('\n\n')
  const link = action && `<p><a href="${escaped(action.link)}">${escaped(action.label)}</a></p>`
  const html = [`<p>${escaped(why)}</p>`, ...(link ? [link] : []), `<p>${escaped(otherwise)}</p>`].join('\n')
  return { to: [to], subject, text: `${text}\n`, html: `${html}\n` }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

/** True if the mail server has rejected the message for good (RFC 5321 §4.2.1). */
export function isPermanent(error: unknown): boolean {
  return error instanceof Error && (error as { readonly permanent?: unknown }).permanent === true
}

/**
 * Composes a message completely and discards it. `import` would load a second copy of nodemailer beside the one of the
 * mail brick.
 */
export async function compose({ to, subject, text, html }: ComposedMessage): Promise<void> {
  const nodemailer = createRequire(import.meta.url)('nodemailer') as typeof Nodemailer
  const nowhere = nodemailer.createTransport({ streamTransport: true, buffer: true })
  await nowhere.sendMail({ from: 'nobody@localhost', to, subject, text, html })
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** Seconds in the largest unit that gives a whole number: `30 minutes`, `1 hour`. */
export function lifetimeText(seconds: number): string {
  const [unit, length] = UNITS.find(([, each]) => seconds % each === 0)!
  const count = seconds / length
  return `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`
}
