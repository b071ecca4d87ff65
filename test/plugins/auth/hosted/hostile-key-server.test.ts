import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { loadKeys } from '../../../../plugins/auth-hosted/load-keys.ts'
import { json, signingKey } from './support/key-server.ts'
import { inHostedWorld, type HostedWorld } from './support/world.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const KEYS = { keys: [] as unknown[] }
const body = (type: string, text: string | Buffer, headers = {}): Answer => {
  return (_, response) => response.writeHead(200, { 'content-type': type, ...headers }).end(text)
}
const endlessAs =
  (status: number, type: string): Answer =>
  (_, response) => {
    response.writeHead(status, { 'content-type': type })
    const more = (): void =>
      void (response.destroyed || response.write('[1,'.repeat(20_000), () => setImmediate(more)))
    more()
  }
const endless = endlessAs(200, 'application/json')
const bomb = gzipSync(Buffer.alloc(50_000_000, ' '))

const HOSTILE: Readonly<Record<string, Answer>> = {
  'breaks the connection': (_, response) => void response.destroy(),
  'is broken': (_, response) => void response.writeHead(500).end('{"keys":[]}'),
  'knows nothing': (_, response) => void response.writeHead(404).end(),
  'sends elsewhere': (request, response) =>
    void response.writeHead(302, { location: `http://${request.headers.host}/elsewhere` }).end(),
  'returns a page': body('text/html', '<html><body>Sign in</body></html>'),
  'returns keys with the type of a page': body('text/html', JSON.stringify(KEYS)),
  'returns keys without a type': (_, response) => void response.end(JSON.stringify(KEYS)),
  'returns invalid JSON': body('application/json', '{"keys":[}'),
  'returns an array': body('application/json', '[]'),
  'returns null': body('application/json', 'null'),
  'returns keys that are not a list': body('application/json', '{"keys":{"kty":"RSA"}}'),
  'answers with more than a hundred keys': (_, response) =>
    json(response, { keys: Array.from({ length: 101 }, () => ({})) }),
  'answers with a lot': body('application/json', JSON.stringify({ keys: [], padding: 'x'.repeat(300_000) })),
  'answers with what unfolds to a lot': body('application/json', bomb, { 'content-encoding': 'gzip' }),
  'answers without end': endless,
  'never answers': () => {},
  'answers with headers and then nothing': (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).write('{"keys":['),
  'drips a byte at a time': (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const timer = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(timer))
  },
}

describe('a key server', () => {
  for (const [what, answer] of Object.entries(HOSTILE))
    for (const place of ['/jwks', '/.well-known/openid-configuration'])
      it(`that ${what} at ${place} opens nothing and holds nobody`, async () => {
        const key = await signingKey('one')
        await inHostedWorld({ keys: [key], hosted: { timeout: '150ms' } }, async (world) => {
          answerAt(world, place, answer)
          await expectRefusal(world, await world.server.token(key))
        })
      })

  it('that publishes a hundred keys is used', async () => {
    const key = await signingKey('one')
    await inHostedWorld({ keys: [key] }, async ({ server, statusOf }) => {
      server.keys = [...Array.from({ length: 99 }, () => ({})), key.jwk]
      expect(await statusOf(await server.token(key))).to.equal(200)
    })
  })

  for (const [status, type] of [
    [500, 'application/json'],
    [302, 'application/json'],
    [200, 'text/html'],
  ] as const)
    it(`that sends without end with the status ${status} and the type ${type} keeps no connection`, async () => {
      const key = await signingKey('one')
      await inHostedWorld({ keys: [key] }, async (world) => {
        const ended = new Promise<void>((resolve) => {
          answerAt(world, '/jwks', (request, response) => {
            response.once('close', resolve)
            endlessAs(status, type)(request, response)
          })
        })
        await expectRefusal(world, await world.server.token(key))
        await ended
      })
    })

  it('that is not there opens nothing and holds nobody', async () => {
    const key = await signingKey('one')
    await inHostedWorld({ keys: [key] }, async (world) => {
      await world.server.close()
      await expectRefusal(world, await world.server.token(key))
    })
  })

  it('whose metadata are of another issuer, or name no usable address, opens nothing', async () => {
    const key = await signingKey('one')
    for (const change of [
      { issuer: 'https://elsewhere.example.com' },
      { jwks_uri: undefined },
      { jwks_uri: 7 },
      { jwks_uri: 'file:///etc/passwd' },
      { jwks_uri: 'data:application/json,{"keys":[]}' },
      { jwks_uri: '/jwks' },
    ])
      await inHostedWorld({ keys: [key] }, async (world) => {
        const { server } = world
        const metadata = { issuer: server.issuer, jwks_uri: `${server.issuer}/jwks`, ...change }
        answerAt(world, '/.well-known/openid-configuration', (_, response) => json(response, metadata))
        await expectRefusal(world, await server.token(key))
        expect(server.asked).to.not.include('/jwks')
      })
  })

  it('whose metadata name keys without TLS opens nothing in production', async () => {
    await inHostedWorld({ keys: [await signingKey('one')] }, async ({ server }) => {
      const { signal } = new AbortController()
      const load = (httpsOnly: boolean) =>
        loadKeys({ issuer: server.issuer, jwksUrl: undefined, httpsOnly }, signal)
      const refusal = await load(true).catch((error: unknown) => error as Error)
      expect((refusal as Error).message).to.include('names no address of keys that may be used')
      expect(server.asked).to.not.include('/jwks')
      await load(false)
      expect(server.asked).to.include('/jwks')
    })
  })

  it('that does not end a refused response is left immediately', async () => {
    const key = await signingKey('one')
    await inHostedWorld({ keys: [key], hosted: { timeout: '1m' } }, async (world) => {
      const left = new Promise<void>((resolve) => {
        answerAt(world, '/jwks', (_, response) => {
          response.on('close', resolve)
          response.writeHead(500).write('more follows')
        })
      })
      await expectRefusal(world, await world.server.token(key))
      await left
    })
  })

  it('that recovers is asked again after a second, and not before', async () => {
    const key = await signingKey('one')
    await inHostedWorld({ keys: [key] }, async ({ server, statusOf, clock }) => {
      const token = await server.token(key)
      server.answer = HOSTILE['is broken']
      expect(await statusOf(token)).to.equal(503)
      for (let again = 0; again < 10; again++) expect(await statusOf(token)).to.equal(503)
      expect(server.asked).to.have.length(1)
      server.answer = undefined
      clock.advance('1s')
      expect(await statusOf(token)).to.equal(200)
    })
  })

  it('that fails takes nothing from those whose key is known, until its lifetime ends', async () => {
    const [key, unknown] = [await signingKey('one'), await signingKey('two')]
    await inHostedWorld({ keys: [key] }, async ({ server, statusOf, clock }) => {
      const token = await server.token(key, { exp: clock.now() / 1000 + 3600 })
      expect(await statusOf(token)).to.equal(200)
      server.answer = HOSTILE['is broken']
      for (let fetched = 0; fetched < 5; fetched++) {
        expect(await statusOf(await server.token(unknown))).to.equal(503)
        clock.advance('1s')
      }
      expect(await statusOf(token)).to.equal(200)
      clock.advance('11m')
      expect(await statusOf(token)).to.equal(503)
    })
  })

  it('that is slow holds no application that closes', async () => {
    const key = await signingKey('one')
    await inHostedWorld({ keys: [key], hosted: { timeout: '300ms' } }, async ({ app, server, client }) => {
      const arrived = new Promise<void>((resolve) => {
        server.answer = () => resolve()
      })
      const answer = client.withToken(await server.token(key)).get('/private')
      await arrived
      const begun = performance.now()
      await app.close()
      expect((await answer).status).to.equal(503)
      expect(performance.now() - begun).to.be.below(6000)
    })
  })
})

function answerAt({ server }: HostedWorld, place: string, answer: Answer): void {
  server.answer = (request, response) => {
    if (request.url === place) return answer(request, response)
    // All that is wanted is at any other address.
    json(response, { keys: server.keys, issuer: server.issuer, jwks_uri: `${server.issuer}/jwks` })
  }
}

async function expectRefusal({ client }: HostedWorld, token: string): Promise<void> {
  const begun = performance.now()
  const [guarded, open] = await Promise.all([
    client.withToken(token).get('/private'),
    client.withToken(token).get('/public'),
  ])
  expect(guarded.status).to.equal(503)
  expect(guarded.body.code).to.equal('service_unavailable')
  expect(guarded.headers['retry-after']).to.equal('1')
  expect(guarded.text).to.not.match(/127\.0\.0\.1|jwks/)
  expect([open.status, open.body.id]).to.deep.equal([200, null])
  expect(performance.now() - begun).to.be.below(6000)
}
