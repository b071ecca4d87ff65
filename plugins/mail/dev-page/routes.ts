import { createRouter, Forbidden, NotFound, type BaseContext, type Middleware, type Router } from 'mortar'
import { isSameOrigin, MAIL_PAGE } from 'mortar/kit'
import type { MailService } from '../mailer.ts'
import type { Outbox, OutboxMessage } from '../outbox.ts'
import { SAMPLE, type Samples } from '../templates/templates.ts'
import { localOnly, type PageAccess } from './access.ts'
import { attachmentDisposition, safeFileName } from './file-name.ts'
import { FRAME_POLICY, frameDocument } from './frame.ts'
import { messageJson } from './json.ts'
import { listPage } from './list-page.ts'
import { messagePage } from './message-page.ts'
import { SCRIPT_SOURCE } from './script.ts'
import { searchMessages } from './search.ts'
import { STYLE_SOURCE } from './style.ts'

/** Path of the development page. */
export const PAGE_PATH = MAIL_PAGE

const PAGE_POLICY = [
  "default-src 'none'",
  `style-src ${STYLE_SOURCE}`,
  `script-src ${SCRIPT_SOURCE}`,
  "connect-src 'self'",
  "frame-src 'self'",
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')
/** Of everything that a message determines and that is not its HTML. */
const DOWNLOAD_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"

const COMMON_HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex',
}

/** Context of a handler of the page, with the outbox. */
type PageContext = BaseContext & {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
}

/**
 * The routes of the development page: list, message, its HTML for the sandboxed frame, its source and attachments, and
 * what deletes messages. For development and test only.
 */
export function devPage(access: PageAccess): Router {
  return (
    createRouter({ prefix: PAGE_PATH, hidden: true, auth: false })
      .use(setCommonHeaders)
      .use(localOnly(access))
      .use(refuseOtherOrigins)
      .get('/', showList)
      // A page that watches the list would fill the log.
      .get('/revision', { logRequests: false }, (ctx: PageContext) => ({ revision: outboxOf(ctx).revision }))
      .post('/delete', deleteAll)
      .get('/:id', withMessage(showMessage))
      .get('/:id/html', withMessage(showHtml))
      .get('/:id/source', withMessage(showSource))
      .get('/:id/eml', withMessage(downloadMessage))
      .get('/:id/attachments/:index', withMessage(sendAttachment))
      .post('/:id/delete', withMessage(deleteMessage))
  )
}

/** Sets the headers of each response of the page, problems included. */
const setCommonHeaders: Middleware = (ctx, next) => {
  for (const [name, value] of Object.entries(COMMON_HEADERS)) ctx.set(name, value)
  return next()
}

/** A page of another site must not delete messages, neither by a script nor by a form. */
const refuseOtherOrigins: Middleware = (ctx, next) => {
  if (isSameOrigin(ctx)) return next()
  throw new Forbidden('The mail page refuses forms and scripts of other origins.')
}

function showList(ctx: PageContext): unknown {
  const outbox = outboxOf(ctx)
  const { q } = ctx.query
  const search = typeof q === 'string' ? q : ''
  const all = outbox.list()
  const messages = searchMessages(all, search)
  if (wantsJson(ctx)) return { messages: messages.map(messageJson) }
  const samples = samplesIn(ctx)?.names() ?? []
  const view = { base: PAGE_PATH, search, total: all.length, revision: outbox.revision, samples }
  return asPage(ctx, listPage(messages, view))
}

function deleteAll(ctx: PageContext): unknown {
  outboxOf(ctx).clear()
  return backToList(ctx)
}

function deleteMessage(ctx: PageContext, { id }: OutboxMessage): unknown {
  outboxOf(ctx).remove(id)
  return backToList(ctx)
}

/** A browser goes to the list; a program is done. */
function backToList(ctx: PageContext): unknown {
  ctx.status = wantsJson(ctx) ? 204 : 303
  if (ctx.status === 303) ctx.set('Location', PAGE_PATH)
  return undefined
}

function showMessage(ctx: PageContext, message: OutboxMessage): unknown {
  if (wantsJson(ctx)) return messageJson(message)
  return asPage(ctx, messagePage(message, { base: PAGE_PATH }))
}

function showHtml(ctx: PageContext, message: OutboxMessage): unknown {
  if (message.html === null) throw new NotFound('This message has no HTML.')
  ctx.set('Content-Security-Policy', FRAME_POLICY)
  ctx.type = 'text/html; charset=utf-8'
  return frameDocument(message)
}

function showSource(ctx: PageContext, message: OutboxMessage): unknown {
  ctx.set('Content-Security-Policy', DOWNLOAD_POLICY)
  ctx.type = 'text/plain; charset=utf-8'
  return message.source()
}

function downloadMessage(ctx: PageContext, message: OutboxMessage): unknown {
  ctx.set('Content-Security-Policy', DOWNLOAD_POLICY)
  ctx.set('Content-Disposition', attachmentDisposition(`${safeFileName(message.subject, 'message')}.eml`))
  ctx.type = 'message/rfc822'
  return message.source()
}

function sendAttachment(ctx: PageContext, { attachments }: OutboxMessage): unknown {
  const index = /^\d{1,6}$/.test(ctx.params['index'] ?? '') ? Number(ctx.params['index']) : -1
  const attachment = attachments[index]
  if (!attachment) throw new NotFound('This message has no such attachment.')
  ctx.set('Content-Security-Policy', DOWNLOAD_POLICY)
  ctx.set(
    'Content-Disposition',
    attachmentDisposition(safeFileName(attachment.filename, `attachment-${index + 1}`)),
  )
  // Never the type that the message claims: a download needs no type, and a browser must not render it as a page.
  ctx.type = 'application/octet-stream'
  return attachment.content
}

function asPage(ctx: PageContext, markup: string): string {
  ctx.set('Content-Security-Policy', PAGE_POLICY)
  ctx.type = 'text/html; charset=utf-8'
  return markup
}

function wantsJson(ctx: PageContext): boolean {
  ctx.append('Vary', 'Accept')
  return ctx.koa.accepts(['html', 'json']) === 'json'
}

type PageHandler = (ctx: PageContext) => unknown

function withMessage(handle: (ctx: PageContext, message: OutboxMessage) => unknown): PageHandler {
  return (ctx) => findMessage(ctx).then((message) => handle(ctx, message))
}

async function findMessage(ctx: PageContext): Promise<OutboxMessage> {
  const { id = '' } = ctx.params
  const message = id.startsWith(SAMPLE)
    ? await samplesIn(ctx)?.open(id.slice(SAMPLE.length))
    : outboxOf(ctx).find(id)
  if (message) return message
  throw new NotFound('There is no such message. The outbox is in memory and keeps the newest ones only.')
}

/** A test may replace the mailer with one that has no templates. */
function samplesIn(ctx: PageContext): Samples | undefined {
  return (ctx.services['mailer'] as Partial<MailService>).samples
}

function outboxOf(ctx: PageContext): Outbox {
  // The mail brick mounts these routes and provides the service.
  return ctx.services['mailOutbox'] as Outbox
}
