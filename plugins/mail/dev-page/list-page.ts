import type { OutboxMessage } from '../outbox.ts'
import { html, type Markup } from '../markup.ts'
import { SAMPLE } from '../templates/templates.ts'
import { badge, button, page, subjectOf, time } from './page-parts.ts'

/** The messages that the list shows, and how it was asked for. */
export interface ListView {
  /** Path of the list. */
  readonly base: string
  /** The words that were searched for. */
  readonly search: string
  /** Number of all messages. */
  readonly total: number
  readonly revision: string
  /** Names of the templates. */
  readonly samples: readonly string[]
}

/** Renders the list page. */
export function listPage(messages: readonly OutboxMessage[], view: ListView): string {
  const { base, search, revision } = view
  return page({
    title: 'Mail',
    body: html`<header>
        <h1><a href="${base}">Mail</a></h1>
        <form role="search" action="${base}">
          <input
            type="search"
            name="q"
            value="${search}"
            aria-label="Search"
            placeholder="Search address, subject, text"
          />
        </form>
      </header>
      <section data-live="${base}/revision" data-revision="${revision}" aria-live="polite">
        <div class="bar">
          <span class="dim">${countOf(messages.length, view)}</span>
          ${view.total === 0 ? '' : button('Delete all', `${base}/delete`)}
        </div>
        <div class="card">${messages.length === 0 ? emptyList(view) : list(messages, base)}</div>
      </section>
      ${templates(view)}`,
  })
}

function countOf(count: number, { search, total }: ListView): string {
  const all = total === 1 ? '1 message, kept in memory' : `${total} messages, kept in memory`
  return search === '' ? all : `${count} of ${all}`
}

function emptyList({ total }: ListView): Markup {
  if (total > 0) return html`<p class="empty dim">No message matches.</p>`
  return html`<p class="empty dim">
    Nothing was sent yet. What <code>ctx.mail.send(…)</code> sends shows here by itself.
  </p>`
}

function templates({ base, samples }: ListView): Markup | string {
  if (samples.length === 0) return ''
  return html`<h2>Templates, with their sample data</h2>
    <div class="card pad">
      <ul class="plain">
        ${samples.map((name) => html`<li><a href="${base}/${encodeURIComponent(SAMPLE + name)}">${name}</a></li>`)}
      </ul>
    </div>`
}

function list(messages: readonly OutboxMessage[], base: string): Markup {
  return html`<ul class="list">
    ${messages.map(
      (message) =>
        html`<li>
          <a href="${base}/${encodeURIComponent(message.id)}"
            ><span class="who"
              ><bdi>${message.to}</bdi> <small class="dim">from <bdi>${message.from}</bdi></small></span
            >
            <bdi class="subject">${subjectOf(message)}</bdi
            ><span class="dim when">${badge(message)} ${time(message.date)}</span></a
          >
        </li>`,
    )}
  </ul>`
}
