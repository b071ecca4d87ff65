import {
  createRouter,
  MAIL_PAGE,
  NotFound,
  type BaseContext,
  type Middleware,
  type Router,
} from '../../../src/index.ts'
import type { Outbox, OutboxMessage } from '../outbox.ts'
import { localOnly, type PageAccess } from './access.ts'
import { attachmentDisposition, safeFileName } from './file-name.ts'
import { FRAME_POLICY, frameDocument } from './frame.ts'
import { listPage, messagePage } from './html.ts'
import { messageJson } from './json.ts'
import { STYLE_SOURCE } from './style.ts'

/** Path of the development page. */
export const PAGE_PATH = MAIL_PAGE

const PAGE_POLICY = `default-src 'none'; style-src ${STYLE_SOURCE}; frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`

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
 * The routes of the development page: list, message, the message's HTML for the sandboxed frame, and its attachments.
 * For development and test only.
 */
export function devPage(access: PageAccess): Router {
  return createRouter({ prefix: PAGE_PATH, hidden: true, auth: false })
    .use(setCommonHeaders)
    .use(localOnly(access))
    .get('/', showList)
    .get('/:id', showMessage)
    .get('/:id/html', showHtml)
    .get('/:id/attachments/:index', sendAttachment)
}

/** Sets the headers of each response of the page, problems included. */
const setCommonHeaders: Middleware = (ctx, next) => {
  for (const [name, value] of Object.entries(COMMON_HEADERS)) ctx.set(name, value)
  return next()
}

function showList(ctx: PageContext): unknown {
  const messages = outboxOf(ctx).list()
  if (wantsJson(ctx)) return { messages: messages.map(messageJson) }
  return asPage(ctx, listPage(messages, { base: PAGE_PATH, refresh: ctx.query['refresh'] !== undefined }))
}

function showMessage(ctx: PageContext): unknown {
  const message = findMessage(ctx)
  if (wantsJson(ctx)) return messageJson(message)
  return asPage(ctx, messagePage(message, { base: PAGE_PATH }))
}

function showHtml(ctx: PageContext): unknown {
  const message = findMessage(ctx)
  if (message.html === null) throw new NotFound('This message has no HTML.')
  ctx.set('Content-Security-Policy', FRAME_POLICY)
  ctx.type = 'text/html; charset=utf-8'
  return frameDocument(message)
}

function sendAttachment(ctx: PageContext): unknown {
  const { attachments } = findMessage(ctx)
  const index = /^\d{1,6}$/.test(ctx.params['index'] ?? '') ? Number(ctx.params['index']) : -1
  const attachment = attachments[index]
  if (!attachment) throw new NotFound('This message has no such attachment.')
  ctx.set('Content-Security-Policy', "sandbox; default-src 'none'")
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

function findMessage(ctx: PageContext): OutboxMessage {
  const message = outboxOf(ctx).find(ctx.params['id'] ?? '')
  if (message) return message
  throw new NotFound('There is no such message. The outbox is in memory and keeps the newest ones only.')
}

function outboxOf(ctx: PageContext): Outbox {
  // The mail brick mounts these routes and provides the service.
  return ctx.services['mailOutbox'] as Outbox
}
