import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { Provider } from 'oidc-provider'
import { CookieJar } from 'tough-cookie'

export const API = 'https://api.example.com'
const REDIRECT = 'https://app.example.com/callback'

/** A key pair as an OpenID provider is configured with it. */
export async function privateKey(kid: string, alg = 'RS256'): Promise<JWK> {
  const pair = await generateKeyPair(alg, { extractable: true })
  return { ...(await exportJWK(pair.privateKey)), kid, alg, use: 'sig' }
}

/** A real OpenID Connect server on this machine. */
export interface OidcServer {
  readonly issuer: string
  /** Signs with the first of these keys from now on and publishes all of them; whoever is signed in stays. */
  rotate(keys: readonly JWK[]): void
  /** Signs in as a browser does: authorization code with PKCE, password page and consent page. */
  signIn(login: string): Promise<{ accessToken: string; idToken: string }>
  /** An access token of a client's own, for the same or another API. */
  machineToken(resource?: string): Promise<string>
  close(): Promise<void>
}

/** Starts oidc-provider; access tokens are JWTs for one API and live `lifetime` seconds. */
export async function startOidcServer(keys: readonly JWK[], lifetime = 300): Promise<OidcServer> {
  let answer: ReturnType<Provider['callback']>
  const http = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const rotate = (signing: readonly JWK[]): void => {
    answer = createProvider(issuer, signing, lifetime).callback()
  }
  rotate(keys)
  return {
    issuer,
    rotate,
    signIn: (login) => signIn(issuer, login),
    async machineToken(resource = API) {
      const form = { grant_type: 'client_credentials', resource, scope: 'notes', client_id: 'machine' }
      return (await tokens(issuer, { ...form, client_secret: 'machine-secret' })).access_token
    },
    close: async () => {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
    },
  }
}

function createProvider(issuer: string, keys: readonly JWK[], lifetime: number): Provider {
  const alg = keys[0]!.alg as 'RS256'
  return new Provider(issuer, {
    jwks: { keys: [...keys] as never },
    clients: [
      {
        client_id: 'page',
        token_endpoint_auth_method: 'none',
        redirect_uris: [REDIRECT],
        id_token_signed_response_alg: alg,
      },
      {
        client_id: 'machine',
        client_secret: 'machine-secret',
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: alg,
      },
    ],
    cookies: { keys: ['the cookies of a test'] },
    enabledJWA: { idTokenSigningAlgValues: ['RS256', 'ES256', 'EdDSA', 'Ed25519'] },
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => API,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, audience) => ({
          scope: 'notes',
          audience,
          accessTokenFormat: 'jwt',
          accessTokenTTL: lifetime,
          jwt: { sign: { alg } },
        }),
      },
    },
    ttl: {
      AccessToken: lifetime,
      IdToken: lifetime,
      ClientCredentials: lifetime,
      Session: 600,
      Grant: 600,
      Interaction: 600,
    },
  })
}

interface TokenAnswer {
  readonly access_token: string
  readonly id_token: string
}

async function tokens(issuer: string, form: Record<string, string>): Promise<TokenAnswer> {
  const response = await fetch(`${issuer}/token`, { method: 'POST', body: new URLSearchParams(form) })
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as TokenAnswer
}

async function signIn(issuer: string, login: string) {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const query = new URLSearchParams({
    client_id: 'page',
    response_type: 'code',
    redirect_uri: REDIRECT,
    scope: 'openid notes',
    resource: API,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    nonce: randomBytes(8).toString('hex'),
  })
  const back = await browse(`${issuer}/auth?${query.toString()}`, login, REDIRECT)
  const code = new URL(back).searchParams.get('code') ?? failed(back)
  const answer = await tokens(issuer, {
    grant_type: 'authorization_code',
    client_id: 'page',
    redirect_uri: REDIRECT,
    code_verifier: verifier,
    code,
  })
  return { accessToken: answer.access_token, idToken: answer.id_token }
}

/** Follows redirects and fills in the server's pages until it leads to `target`. @returns that address. */
export async function browse(start: string, login: string, target: string): Promise<string> {
  const jar = new CookieJar()
  let url = start
  for (let step = 0; step < 12; step++) {
    if (url.startsWith(target)) return url
    let response = await visit(jar, url)
    if (response.status === 200) {
      const prompt = /name="prompt" value="(\w+)"/.exec(await response.text())?.[1] ?? failed(url)
      const form = prompt === 'login' ? { prompt, login, password: 'any' } : { prompt }
      response = await visit(jar, url, new URLSearchParams(form))
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${response.status} ${await response.text()}`)
    url = new URL(location, url).href
  }
  return failed(url)
}

async function visit(jar: CookieJar, url: string, form?: URLSearchParams): Promise<Response> {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { cookie: await jar.getCookieString(url) },
    ...(form && { method: 'POST', body: form }),
  })
  for (const line of response.headers.getSetCookie()) await jar.setCookie(line, url)
  return response
}

function failed(url: string): never {
  throw new Error(`The sign-in led nowhere: ${url}`)
}
