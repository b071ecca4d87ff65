import type { MailMessage as CompiledMail, Transport } from 'nodemailer'
import { formatAddresses, type MailAddress } from '../addresses.ts'
import { linksOf } from '../message-links.ts'

/** Settings of the terminal transport: its output, and the address of a message's page. */
export interface TerminalOptions {
  print(text: string): void
  pageOf(messageId: string): string | undefined
}

const MAX_LINES = 20
const MAX_LINE = 500

/** A transport that prints a readable summary of each message, with its links, instead of sending it. */
export function terminalTransport({ print, pageOf }: TerminalOptions): Transport {
  return {
    name: 'terminal',
    version: '1',
    send(mail, done) {
      const messageId = mail.message.messageId()
      print(summarise(summaryOf(mail), pageOf(messageId)))
      done(null, { envelope: mail.message.getEnvelope(), messageId })
    },
  }
}

/** Parts of a message that are printed. */
export type MailSummary = ReturnType<typeof summaryOf>

/** Formats the summary. Control characters, which could control the terminal, are replaced. */
export function summarise(mail: MailSummary, page: string | undefined): string {
  const body = (mail.text ?? '').trimEnd().split(/\r\n|\r|\n/)
  const shown = body.slice(0, MAX_LINES).map(printable)
  const missing = linksOf(mail).filter((link) => !shown.some((line) => line.includes(link)))
  const lines = [
    `to       ${printable(mail.to)}`,
    `from     ${printable(mail.from)}`,
    `subject  ${printable(mail.subject)}`,
    ...(mail.attachments.length > 0 ? [`files    ${mail.attachments.map(printable).join(', ')}`] : []),
    '',
    ...shown,
    ...(body.length > MAX_LINES ? [`… ${body.length - MAX_LINES} more lines`] : []),
    ...missing.map((link) => `link     ${printable(link).replaceAll(/[\t\n]/g, '�')}`),
    ...(page === undefined ? [] : ['', `read it  ${page}`]),
  ]
  return `\n┌ mail\n${lines.map((line) => `│ ${line}`.trimEnd()).join('\n')}\n└\n`
}

function summaryOf(mail: CompiledMail) {
  const { from, to } = mail.message.getAddresses() as Partial<Record<'from' | 'to', MailAddress[]>>
  const { subject, text, html, attachments } = mail.data
  return {
    from: formatAddresses(from ?? []),
    to: formatAddresses(to ?? []),
    subject: subject ?? '',
    text: typeof text === 'string' ? text : null,
    html: typeof html === 'string' ? html : null,
    attachments: (attachments ?? []).map((attachment) => String(attachment.filename)),
  }
}

// oxlint-disable-next-line no-control-regex -- it finds control characters
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

function printable(line: string): string {
  const clean = line.replace(CONTROL, '�')
  return clean.length > MAX_LINE ? `${clean.slice(0, MAX_LINE)}…` : clean
}
