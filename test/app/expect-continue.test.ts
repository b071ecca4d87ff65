import { expect } from 'chai'
import { createApp, createRouter, fromKoa, Unauthorized } from 'mortar'
import { rawRequest } from '../support/raw-request.ts'

describe('A request with Expect: 100-continue', () => {
  const router = createRouter()
    .post('/json', { bodyLimit: 100 }, (ctx) => ctx.body as object)
    .post('/raw', { consumes: [] }, async ({ koa }) => {
      let size = 0
      for await (const chunk of koa.req) size += (chunk as Buffer).length
      return { size }
    })
    .post('/unread', { consumes: [] }, () => ({ read: false }))
    .post('/refused', { bodyLimit: 100 }, (ctx) => ctx.body as object)
  const guard = (ctx: { path: string }, next: () => Promise<unknown>): Promise<unknown> => {
    if (ctx.path === '/refused') throw new Unauthorized('Sign in.')
    return next()
  }

  for (const front of ['', ' behind Koa middleware'])
    it(`is asked for its body when that is read, and not before a refusal${front}`, async () => {
      const app = createApp({ logger: false }).use(guard as never)
      if (front !== '') app.use(fromKoa((_ctx, next) => next()))
      if (front !== '') app.koa.use((_ctx, next) => next())
      const { port } = await app.use(router).listen(0, '127.0.0.1')
      const head = (path: string, length: number): string =>
        `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`
      for (const [path, length, statuses] of [
        ['/json', 7, [100, 200, 404]],
        ['/raw', 7, [100, 200, 404]],
        ['/unread', 7, [200]],
        ['/json', 101, [413]],
        ['/refused', 7, [401]],
        ['/nowhere', 7, [404]],
      ] as const) {
        const body = statuses[0] === 100 ? ['{"a":1}', NEXT] : []
        const { text } = await rawRequest(port, [head(path, length), ...body], 5000)
        expect(statusesOf(text), path).to.deep.equal(statuses)
        expect(text, path).to.match(/\r\nConnection: close\r\n/)
      }
      await app.close()
    })
})

const NEXT = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
}
