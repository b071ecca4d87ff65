import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Router } from '@koa/router'
import { expect } from 'chai'
import Koa from 'koa'
import { createApp, fromKoa, fromKoaRouter } from 'mortar'
import { ADAPTERS } from './adapters.ts'

/** A response as bytes, without the headers of its connection. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** A request; `GET` by default. */
export interface Ask {
  readonly method?: string
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** Headers that name the connection or the framework, not the response. */
const OWN = new Set(['date', 'connection', 'keep-alive', 'x-request-id', 'transfer-encoding'])

/** Sends one request on a connection of its own. */
export function ask(url: string, { method = 'GET', path, headers = {}, body }: Ask): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = send(url + path, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: Object.fromEntries(Object.entries(response.headers).filter(([name]) => !OWN.has(name))),
          body: Buffer.concat(chunks).toString(),
        }),
      )
    })
    sent.on('error', reject).end(body)
  })
}

/** Serves a Koa application without Mortar. */
export async function servePlain(koa: Koa): Promise<{ readonly url: string; close(): void }> {
  koa.silent = true
  const server = createServer(koa.callback())
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

/**
 * Asks plain Koa with `router.routes()`, and Mortar with `fromKoaRouter(router)` through both adapters; the responses must
 * agree byte for byte. Returns them.
 */
export async function compareRouters(
  make: () => Router,
  asks: readonly Ask[],
  middleware: readonly Koa.Middleware[] = [],
): Promise<Answer[]> {
  const koa = new Koa()
  for (const each of middleware) koa.use(each)
  koa.use(make().routes())
  const plain = await servePlain(koa)
  const expected: Answer[] = []
  for (const each of asks) expected.push(await ask(plain.url, each))
  plain.close()
  for (const adapter of ADAPTERS) {
    const app = createApp()
    for (const each of middleware) app.use(fromKoa(each))
    const open = await adapter.open(app.use(fromKoaRouter(make())))
    try {
      for (const [index, each] of asks.entries())
        expect(
          await ask(open.url, each),
          `${each.method ?? 'GET'} ${each.path} ${adapter.name}`,
        ).to.deep.equal(expected[index])
    } finally {
      await open.close()
    }
  }
  return expected
}

/** `GET` requests for the paths. */
export function gets(...paths: string[]): Ask[] {
  return paths.map((path) => ({ path }))
}
