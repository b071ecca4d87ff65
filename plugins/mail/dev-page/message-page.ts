import { linksOf, splitLinks } from '../message-links.ts'
import type { OutboxMessage } from '../outbox.ts'
import { safeFileName } from './file-name.ts'
import { html, type Markup } from '../markup.ts'
import { SAMPLE } from '../templates/templates.ts'
import { badge, button, page, subjectOf, time } from './page-parts.ts'

/** Renders the page of one message. */
export function messagePage(message: OutboxMessage, { base }: { base: string }): string {
  const own = `${base}/${encodeURIComponent(message.id)}`
  return page({
    title: subjectOf(message),
    body: html`<header>
        <h1><bdi>${subjectOf(message)}</bdi></h1>
        ${badge(message)}
        <nav class="end">
          <a href="${base}">All mail</a
          >${message.id.startsWith(SAMPLE) ? '' : button('Delete', `${own}/delete`)}
        </nav>
      </header>
      ${message.error === undefined ? '' : html`<p class="error">${message.error}</p>`}
      <div class="card pad">${fields(message)}</div>
      ${links(message)}${frame(message, own)}${text(message)}${files(message, own)}
      <h2>Source</h2>
      <div class="card pad">
        <div class="bar"><a href="${own}/source">Raw source</a><a href="${own}/eml">Download .eml</a></div>
        <details>
          <summary>Headers as sent</summary>
          <dl>${message.headers.map(field)}</dl>
        </details>
        ${
          message.html === null
            ? ''
            : html`<details>
                <summary>HTML</summary>
                <pre>${message.html}</pre>
              </details>`
        }
      </div>`,
  })
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

/** The sizes and colours are radio buttons before the frame, so that they need no script. */
function frame(message: OutboxMessage, own: string): Markup | string {
  if (message.html === null) return ''
  const hasLinks = linksOf({ text: null, html: message.html }).length > 0
  return html`<h2>HTML</h2>
    <div class="card preview">
      <div class="choices">
        <fieldset>
          <legend>Width</legend>
          ${choice('width', 'full', 'Full')}${choice('width', 'phone', 'Phone')}
        </fieldset>
        <fieldset>
          <legend>Colours</legend>
          ${choice('colours', 'light', 'Light')}${choice('colours', 'dark', 'Dark')}
        </fieldset>
      </div>
      <iframe sandbox src="${own}/html" title="HTML of the message" referrerpolicy="no-referrer"></iframe>
    </div>
    <p class="dim">
      Scripts, forms and remote images do nothing in this
      preview${hasLinks ? ', and its links are refused: they are listed above' : ''}.
    </p>`
}

function choice(name: string, value: string, label: string): Markup {
  const isFirst = value === 'full' || value === 'light'
  return html`<label
    ><input type="radio" name="${name}" value="${value}" ${isFirst ? 'checked' : ''} />${label}</label
  >`
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
