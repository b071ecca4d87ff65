import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import { privateKey } from '../../hosted/support/oidc-server.ts'

/** Starts oidc-provider with one client. Its claims about the user come from the userinfo endpoint. */
export async function startRealIssuer(client: {
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri: string
}) {
  const http = createServer().listen(0, '127.0.0.1')
  await once(http, 'listening')
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    jwks: { keys: [await privateKey('one')] as never },
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: [client.redirectUri],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, name: 'Grace Hopper' }),
    }),
    cookies: { keys: ['the cookies of a test'] },
    pkce: { required: () => true },
    ttl: { AccessToken: 60, IdToken: 60, Session: 600, Grant: 600, Interaction: 600 },
  })
  const answer = provider.callback()
  http.on('request', (request, response) => void answer(request, response))
  return {
    issuer,
    close: async () => {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
    },
  }
}
