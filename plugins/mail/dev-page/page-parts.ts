import type { OutboxMessage } from '../outbox.ts'
import { html, Markup } from '../markup.ts'
import { SCRIPT } from './script.ts'
import { STYLE } from './style.ts'

/** Strings of their own, because the policy allows style and script by the hash of all characters between the tags. */
const STYLE_ELEMENT = new Markup(`<style>${STYLE}</style>`)
const SCRIPT_ELEMENT = new Markup(`<script>${SCRIPT}</script>`)

/** Renders a whole page. */
export function page({ title, body }: { title: string; body: Markup }): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Mortar mail</title>
        <link rel="icon" href="data:," />
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>${body}</main>
        ${SCRIPT_ELEMENT}
      </body>
    </html>`.toString()
}

/** Returns the subject, or words for a message without one. */
export function subjectOf({ subject }: OutboxMessage): string {
  return subject || '(no subject)'
}

/** Renders the state of a message that is not sent. */
export function badge({ status }: OutboxMessage): Markup | string {
  return status === 'sent'
    ? ''
    : html`<span class="badge ${status}">${status === 'failed' ? 'not sent' : 'sending'}</span>`
}

/** Renders a time in UTC; the script shows the local time and keeps UTC as the title. */
export function time(date: Date): Markup {
  const iso = date.toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`
}

/** Renders a button that changes something: a form, since it works without the script. */
export function button(label: string, action: string): Markup {
  return html`<form method="post" action="${action}"><button>${label}</button></form>`
}
