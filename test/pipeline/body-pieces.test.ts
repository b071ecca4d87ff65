import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { createApp, createRouter } from 'mortar'
import { mixed } from 'yup'
import { throughBothAdapters } from '../support/adapters.ts'
import { rawRequest } from '../support/raw-request.ts'
import { bearer, tokens } from '../support/tokens-brick.ts'

const BODY = '{"name":"Ada","note":"as long as this"}'

interface Sent {
  readonly path?: string
  readonly body?: string
  readonly headers?: string
  readonly close?: boolean
}

function post({ path = '/echo', body = BODY, headers = '', close = true }: Sent = {}): string {
  const length = headers.includes('chunked') ? '' : `Content-Length: ${body.length}\r\n`
  const connection = close ? 'Connection: close\r\n' : ''
  const type = 'Content-Type: application/json\r\n'
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${type}${length}${headers}${connection}\r\n${body}`
}

function chunked(...chunks: string[]): string {
  const body = [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')
  return post({ body, headers: 'Transfer-Encoding: chunked\r\n' })
}

function piecesOf(text: string, cut: number): string[] {
  return [text.slice(0, cut), text.slice(cut)].filter((piece) => piece !== '')
}

const storage = new AsyncLocalStorage<string>()

describe('The body of a request that comes in pieces', () => {
  throughBothAdapters((open) => {
    const serve = async () => {
      const closed: Promise<unknown>[] = []
      const routes = createRouter()
        .use(async (ctx, next) => {
          if (ctx.path === '/slow') await wait(20)
          return storage.run('kept', next)
        })
        .post('/echo', (ctx) => ({ body: ctx.body ?? 'none' }))
        .post('/slow', (ctx) => ({ body: ctx.body ?? 'none' }))
        .post('/guarded', { auth: true, body: mixed() }, (ctx) => ({ body: ctx.body }))
        .post('/context', () => storage.getStore() ?? 'lost')
        .post('/small', { bodyLimit: 10 }, () => 'read')
        .post('/closes', (ctx) => {
          const { req } = ctx.koa
          closed.push(req.closed ? Promise.resolve() : once(req, 'close'))
          return { body: ctx.body }
        })
      const { url } = await open(createApp({ logger: false }).use(tokens()).use(routes))
      const send = (pieces: string | readonly string[]) => rawRequest(Number(new URL(url).port), pieces)
      return { send, closed }
    }
    const echoed = JSON.stringify({ body: JSON.parse(BODY) as unknown })

    it('is the same wherever its chunks are split', async () => {
      const { send } = await serve()
      for (const text of [post(), chunked(BODY), chunked(BODY.slice(0, 9), BODY.slice(9))]) {
        const head = text.indexOf('\r\n\r\n')
        for (const cut of [text.length, head, head + 4, head + 5, head + 20, text.length - 1])
          expect((await send(piecesOf(text, cut))).text).to.include(echoed)
      }
      expect((await send([...post()])).text, 'byte by byte').to.include(echoed)
    })

    it('leaves the handler in the asynchronous context of the middleware around it', async () => {
      const { send } = await serve()
      const text = post({ path: '/context' })
      const packed = gzipSync(BODY).toString('latin1')
      const zipped = post({ path: '/context', body: packed, headers: 'Content-Encoding: gzip\r\n' })
      for (const whole of [text, zipped, chunked(BODY).replace('/echo', '/context')])
        for (const cut of [whole.length, whole.length - 6])
          expect((await send(piecesOf(whole, cut))).text).to.match(/kept$|kept\r\n/)
    })

    it('is available to a step that runs late', async () => {
      const { send } = await serve()
      const slow = post({ path: '/slow' })
      const { authorization } = bearer('ada')
      const guarded = post({ path: '/guarded', headers: `Authorization: ${authorization}\r\n` })
      for (const text of [slow, guarded])
        for (const cut of [text.length, text.length - 3])
          expect((await send(piecesOf(text, cut))).text).to.include(echoed)
    })

    it('may be empty, and many may arrive together', async () => {
      const { send } = await serve()
      expect((await send(chunked())).text).to.include('{"body":"none"}')
      const first = post({ body: '{"n":1}', close: false }) + post({ body: '{"n":2}', close: false })
      const { text } = await send(first + chunked('{"n"', ':3}'))
      expect(text.match(/"n":\d/g)).to.deep.equal(['"n":1', '"n":2', '"n":3'])
    })

    it('is rejected beyond its limit, in one chunk and in several', async () => {
      const { send } = await serve()
      for (const text of [post({ path: '/small' }), chunked(BODY).replace('/echo', '/small')])
        for (const cut of [text.length, text.length - 6])
          expect((await send(piecesOf(text, cut))).status).to.equal(413)
    })

    it('emits end and close on the request', async () => {
      const { send, closed } = await serve()
      await send(post({ path: '/closes' }))
      const text = post({ path: '/closes' })
      await send([text.slice(0, -3), text.slice(-3)])
      expect(closed).to.have.lengthOf(2)
      await Promise.all(closed)
    })
  })
})
