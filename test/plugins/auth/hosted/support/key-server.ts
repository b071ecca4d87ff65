import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose'

/** A key that a provider signs with, and its public half as it is published. */
export interface SigningKey {
  readonly kid: string
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly jwk: JWK
}

const made = new Map<string, Promise<SigningKey>>()

/** The key of this name, made once a run. */
export function signingKey(kid: string, alg = 'RS256'): Promise<SigningKey> {
  const name = `${kid} ${alg}`
  if (!made.has(name)) made.set(name, makeKey(kid, alg))
  return made.get(name)!
}

async function makeKey(kid: string, alg: string): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A provider's web server, as far as its keys go; what it answers can be changed to anything. */
export interface KeyServer {
  readonly issuer: string
  /** Paths that were asked for. */
  readonly asked: string[]
  /** Content of `/jwks`. */
  keys: unknown[]
  /** Answers instead of the metadata and the keys. */
  answer: Answer | undefined
  /** A token of this server; `null` for a claim leaves it out. */
  token(key: SigningKey, claims?: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>
  close(): Promise<void>
}

export const AUDIENCE = 'https://api.example.com'

/** Starts a server that publishes these keys. `now` is in milliseconds. */
export async function startKeyServer(keys: readonly SigningKey[], now: () => number): Promise<KeyServer> {
  const asked: string[] = []
  const http = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (server.answer) return server.answer(request, response)
    const metadata = { issuer: server.issuer, jwks_uri: `${server.issuer}/jwks` }
    if (request.url === '/.well-known/openid-configuration') return json(response, metadata)
    if (request.url === '/jwks') return json(response, { keys: server.keys })
    response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const server: KeyServer = {
    issuer,
    asked,
    keys: keys.map(({ jwk }) => jwk),
    answer: undefined,
    token: (key, claims = {}, header = {}) => sign(key, { iss: issuer, ...claims }, header, now()),
    close: async () => {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
    },
  }
  return server
}

export function json(response: ServerResponse, value: unknown): void {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(value))
}

function sign(
  { alg, kid, privateKey }: SigningKey,
  claims: Record<string, unknown>,
  header: Record<string, unknown>,
  now: number,
): Promise<string> {
  const second = Math.floor(now / 1000)
  const all = { aud: AUDIENCE, sub: 'ada', iat: second, exp: second + 300, ...claims }
  const payload = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as JWTPayload
  const full = Object.entries({ alg, kid, ...header }).filter(([, value]) => value !== null)
  return new SignJWT(payload)
    .setProtectedHeader(Object.fromEntries(full) as { alg: string })
    .sign(privateKey, { crit: { 'x-more': true } })
}
