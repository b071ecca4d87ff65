import { linksOf, splitLinks } from '../message-links.ts'
import type { OutboxMessage } from '../outbox.ts'
import { safeFileName } from './file-name.ts'
import { html, Markup } from './markup.ts'
import { STYLE } from './style.ts'

/** One string, because the policy allows the style by the hash of all characters between the tags. */
const STYLE_ELEMENT = new Markup(`<style>${STYLE}</style>`)
/** Seconds between two loads of the list when it refreshes itself. */
const REFRESH = 3

/** Renders the list page. `base` is its own path; `refresh` makes the browser reload it every few seconds. */
export function listPage(
  messages: readonly OutboxMessage[],
  { base, refresh }: { base: string; refresh: boolean },
): string {
  const toggle = refresh
    ? html`<a href="${base}">stop refreshing</a>`
    : html`<a href="${base}?refresh">refresh by itself</a>`
  return page({
    title: 'Mail',
    refresh,
    body: html`<header>
        <h1>Mail</h1>
        <span class="dim">${countOf(messages.length)}</span><span class="end">${toggle}</span>
      </header>
      <div class="card">${messages.length === 0 ? emptyList() : list(messages, base)}</div>`,
  })
}

/** Renders the page of one message. */
export function messagePage(message: OutboxMessage, { base }: { base: string }): string {
  const own = `${base}/${encodeURIComponent(message.id)}`
  return page({
    title: message.subject || '(no subject)',
    body: html`<header>
        <h1><bdi>${message.subject || '(no subject)'}</bdi></h1>
        ${badge(message)}<span class="end"><a href="${base}">all mail</a></span>
      </header>
      ${message.error === undefined ? '' : html`<p class="error">${message.error}</p>`}
      <div class="card pad">${fields(message)}</div>
      ${links(message)}${frame(message, own)}${text(message)}${files(message, own)}
      <h2>Headers</h2>
      <details class="card pad">
        <summary>As sent</summary>
        <dl>${message.headers.map(field)}</dl>
      </details>`,
  })
}

function page({ title, body, refresh }: { title: string; body: Markup; refresh?: boolean }): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${refresh ? html`<meta http-equiv="refresh" content="${REFRESH}" />` : ''}
        <title>${title} · Mortar mail</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html>`.toString()
}

function countOf(count: number): string {
  return count === 1 ? '1 message, kept in memory' : `${count} messages, kept in memory`
}

function emptyList(): Markup {
  return html`<p class="empty dim">
    Nothing was sent yet. What <code>ctx.mail.send(…)</code> sends shows here.
  </p>`
}

function list(messages: readonly OutboxMessage[], base: string): Markup {
  return html`<ul class="list">
    ${messages.map(
      (message) =>
        html`<li>
          <a href="${base}/${encodeURIComponent(message.id)}"
            ><bdi>${message.to}</bdi> <bdi class="subject">${message.subject || '(no subject)'}</bdi
            ><span class="dim">${badge(message)} ${time(message.date)}</span></a
          >
        </li>`,
    )}
  </ul>`
}

function badge({ status }: OutboxMessage): Markup | string {
  return status === 'sent'
    ? ''
    : html`<span class="badge ${status}">${status === 'failed' ? 'not sent' : 'sending'}</span>`
}

function time(date: Date): Markup {
  const iso = date.toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`
}

function fields(message: OutboxMessage): Markup {
  const rows = [
    ['From', message.from],
    ['To', message.to],
    ['Cc', message.cc],
    ['Bcc', message.bcc],
    ['Reply to', message.replyTo],
  ] as const
  return html`<dl>
    ${rows.filter(([, value]) => value !== '').map(field)}
    <dt>Date</dt>
    <dd>${time(message.date)}</dd>
  </dl>`
}

function field([name, value]: readonly [string, string]): Markup {
  return html`<dt>${name}</dt>
    <dd><bdi>${value}</bdi></dd>`
}

function links(message: OutboxMessage): Markup | string {
  const found = linksOf(message)
  return found.length === 0
    ? ''
    : html`<h2>Links</h2>
        <div class="card pad">
          <ul class="plain">
            ${found.map((link) => html`<li>${anchor(link)}</li>`)}
          </ul>
        </div>`
}

function frame(message: OutboxMessage, own: string): Markup | string {
  return message.html === null
    ? ''
    : html`<h2>HTML</h2>
        <div class="card">
          <iframe sandbox src="${own}/html" title="HTML of the message" referrerpolicy="no-referrer"></iframe>
        </div>
        <p class="dim">
          Scripts, forms and remote images do nothing in this preview, and its links are refused: they are
          listed above.
        </p>`
}

function text(message: OutboxMessage): Markup | string {
  if (message.text === null) return ''
  const pieces = splitLinks(message.text).map((piece) => (piece.isLink ? anchor(piece.text) : piece.text))
  return html`<h2>Text</h2>
    <div class="card pad"><pre>${pieces}</pre></div>`
}

function files(message: OutboxMessage, own: string): Markup | string {
  if (message.attachments.length === 0) return ''
  const items = message.attachments.map(
    ({ filename, contentType, content }, index) =>
      html`<li>
        <a href="${own}/attachments/${index}"
          ><bdi>${safeFileName(filename, `attachment-${index + 1}`)}</bdi></a
        >
        <span class="dim">${contentType}, ${content.length} bytes</span>
      </li>`,
  )
  return html`<h2>Attachments</h2>
    <div class="card pad">
      <ul class="plain">
        ${items}
      </ul>
    </div>`
}

/** Renders an http or https address; other schemes never become links. */
function anchor(link: string): Markup {
  return html`<a href="${link}" target="_blank" rel="noopener noreferrer">${link}</a>`
}
