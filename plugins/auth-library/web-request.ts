import type { IncomingMessage } from 'node:http'
import { BadRequest, PayloadTooLarge, type Context } from 'mortar'

/** Headers that the client could forge, and headers of the connection. */
const LEFT_OUT = new Set([
  'connection',
  'content-length',
  'expect',
  'forwarded',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
])

/**
 * Converts the request to a web `Request`. Its URL begins with the configured `appUrl`, if any. The client's address,
 * which limits count by, is the one that the framework determined.
 * @throws PayloadTooLarge 413 for a body above `limit` bytes.
 */
export async function toWebRequest(ctx: Context, limit: number): Promise<Request> {
  const body = hasBody(ctx.koa.req) ? await readBody(ctx.koa.req, limit) : undefined
  return new Request(`${originOf(ctx)}${ctx.url}`, {
    // The GET handler serves HEAD; the framework omits the body.
    method: ctx.method === 'HEAD' ? 'GET' : ctx.method,
    headers: headersOf(ctx),
    ...(body === undefined ? {} : { body }),
    signal: ctx.signal,
  })
}

function originOf(ctx: Context): string {
  const { appUrl } = ctx.services as { readonly appUrl?: string }
  if (appUrl !== undefined) return new URL(appUrl).origin
  const host = `http://${ctx.get('host') ?? 'localhost'}`
  return URL.canParse(host) ? new URL(host).origin : 'http://localhost'
}

function headersOf(ctx: Context): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(ctx.koa.req.headers))
    if (!LEFT_OUT.has(name)) for (const value of [values ?? []].flat()) headers.append(name, value)
  if (ctx.ip !== '') headers.set('x-forwarded-for', ctx.ip)
  return headers
}

function hasBody({ method, headers }: IncomingMessage): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Does not iterate the request: leaving the loop would destroy the request, and with it the 413 response. */
async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
  const chunks: Buffer[] = []
  let size = 0
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.byteLength
      if (size <= limit) return void chunks.push(chunk)
      request.pause()
      reject(tooLarge(limit))
    })
    request.once('end', resolve)
    request.once('error', reject)
    request.once('close', () => reject(new BadRequest('The body breaks off.', { code: 'malformed_body' })))
  })
  return Buffer.concat(chunks)
}

function tooLarge(limit: number): PayloadTooLarge {
  return new PayloadTooLarge(`The body is larger than ${limit} bytes.`)
}
