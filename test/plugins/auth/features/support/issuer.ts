import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose'

/** Changes of a test in the responses of the issuer. */
export interface Mischief {
  /** Claims of the ID token that replace the right ones; undefined removes one. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Query of the callback that replaces the right one; undefined removes a parameter. */
  readonly callback?: Readonly<Record<string, string | undefined>>
  /** Signs with a key that is not published. */
  readonly foreignKey?: boolean
  /** Replaces the response of the token endpoint. */
  readonly token?: (response: ServerResponse) => void
  /** Replaces the ID token. */
  readonly idToken?: (token: string) => string | undefined
}

/** Facts about the user at the issuer. */
export type Person = JWTPayload & { readonly sub: string }

/** An issuer of OpenID Connect whose every response a test can spoil, and the API of GitHub. */
export interface Issuer {
  readonly url: string
  /** Paths that were asked for. */
  readonly asked: string[]
  /** The issuer is down if true: connections are closed. */
  isDown: boolean
  /** Signs a person in at the page `location`. @returns the path and query of the callback. */
  signIn(location: string, person: Person, mischief?: Mischief): Promise<string>
  close(): Promise<void>
}

interface Grant {
  readonly person: Person
  readonly mischief: Mischief
  readonly request: URLSearchParams
}

export async function startIssuer(): Promise<Issuer> {
  const [own, foreign] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')])
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const grants = new Map<string, Grant>()
  const people = new Map<string, Person>()
  const http = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const issuer: Issuer = {
    url,
    asked: [],
    isDown: false,
    async signIn(location, person, mischief = {}) {
      const request = new URL(location).searchParams
      const code = randomUUID()
      grants.set(code, { person, mischief, request })
      const query = new URLSearchParams({ code, state: request.get('state')!, iss: url })
      if (request.get('redirect_uri')!.includes('/github/')) query.delete('iss')
      for (const [name, value] of Object.entries(mischief.callback ?? {}))
        if (value === undefined) query.delete(name)
        else query.set(name, value)
      return `${new URL(request.get('redirect_uri')!).pathname}?${query.toString()}`
    },
    async close() {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
    },
  }
  const json = (response: ServerResponse, body: unknown, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!
    issuer.asked.push(path)
    if (issuer.isDown) return void request.socket.destroy()
    if (path === '/.well-known/openid-configuration')
      return void json(response, {
        issuer: url,
        authorization_endpoint: `${url}/auth`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/jwks`,
        userinfo_endpoint: `${url}/me`,
        authorization_response_iss_parameter_supported: true,
        id_token_signing_alg_values_supported: ['RS256'],
      })
    if (path === '/jwks') return void json(response, { keys: [jwk] })
    const person = people.get(request.headers.authorization?.split(' ')[1] ?? '')
    if (path === '/me') return void json(response, person)
    if (path === '/api/v3/user')
      return void json(response, { id: Number(person!.sub), login: 'ada', name: person!['name'] ?? null })
    if (path === '/api/v3/user/emails') return void json(response, person!['emails'])
    return exchange(request, response)
  }

  async function exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const form = new URLSearchParams(Buffer.concat(chunks).toString())
    const grant = grants.get(form.get('code') ?? '')
    grants.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (grant === undefined || grant.request.get('code_challenge') !== challenge)
      return void json(response, { error: 'invalid_grant' }, 400)
    const { person, mischief } = grant
    if (mischief.token !== undefined) return mischief.token(response)
    const token = randomUUID()
    people.set(token, person)
    const tokens = { access_token: token, token_type: 'bearer', expires_in: 60 }
    if (!grant.request.get('scope')!.includes('openid')) return void json(response, tokens)
    const idToken = await sign(grant)
    const spoiled = mischief.idToken === undefined ? idToken : mischief.idToken(idToken)
    return void json(response, { ...tokens, ...(spoiled !== undefined && { id_token: spoiled }) })
  }

  function sign({ person: { emails: _emails, ...person }, mischief, request }: Grant): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const right = {
      iss: url,
      aud: request.get('client_id')!,
      nonce: request.get('nonce')!,
      iat: now,
      exp: now + 60,
      auth_time: now,
      ...person,
    }
    const { privateKey } = mischief.foreignKey ? foreign : own
    return new SignJWT({ ...right, ...mischief.claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign(privateKey)
  }
  return issuer
}
