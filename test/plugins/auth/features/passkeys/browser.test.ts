import { expect } from 'chai'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { launchChromium, needChromium } from '../../../../support/chromium.ts'
import { freePort } from '../../../../support/free-port.ts'
import { claimsOf, withPasskeys } from '../../support/passkey-scene.ts'
import { ADA, inWorld, signedUp } from '../../support/world.ts'

/** The script of a page: what docs/auth.md shows. */
const SCRIPT = `
  const post = async (path, body, token) => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: 'Bearer ' + token }) }
    const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body ?? {}) })
    return { status: response.status, body: await response.json() }
  }
  window.add = async (token, tamper) => {
    const { body } = await post('/auth/passkeys/options', {}, token)
    Object.assign(body, tamper)
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(body)
    const response = (await navigator.credentials.create({ publicKey })).toJSON()
    return post('/auth/passkeys', { response, name: 'Laptop' }, token)
  }
  window.logIn = async (tamper) => {
    const { body } = await post('/auth/login/passkey/options')
    Object.assign(body, tamper)
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(body)
    const response = (await navigator.credentials.get({ publicKey })).toJSON()
    return post('/auth/login/passkey', { response })
  }`

interface Result {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

describe('Passkeys in a browser', function () {
  needChromium()

  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  /** Runs a test on a page of the application, with a virtual authenticator. */
  async function onPage(
    body: (scene: { page: Page; cdp: CDPSession; authenticatorId: string; token: string }) => Promise<void>,
  ): Promise<void> {
    const port = await freePort()
    const base = withPasskeys()
    const auth = { ...base.auth, appUrl: `http://localhost:${port}` }
    await inWorld({ ...base, auth }, async (world) => {
      const { accessToken } = await signedUp(world)
      await world.app.listen(port, '127.0.0.1')
      const context = await browser.newContext()
      try {
        const page = await context.newPage()
        await page.route('**/page', (route) => route.fulfill({ contentType: 'text/html', body: '<p>' }))
        await page.goto(`${auth.appUrl}/page`)
        await page.evaluate(SCRIPT)
        const cdp = await context.newCDPSession(page)
        await cdp.send('WebAuthn.enable')
        const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
          options: {
            protocol: 'ctap2',
            transport: 'internal',
            hasResidentKey: true,
            hasUserVerification: true,
            isUserVerified: true,
            automaticPresenceSimulation: true,
          },
        })
        await body({ page, cdp, authenticatorId, token: accessToken! })
      } finally {
        await context.close()
      }
    })
  }
  const call = (page: Page, expression: string) => page.evaluate<Result>(expression)

  for (const [algorithm, alg] of [
    ['ES256', -7],
    ['RS256', -257],
    ['Ed25519', -8],
  ] as const)
    it(`are added and sign in, with ${algorithm}`, () =>
      onPage(async ({ page, cdp, authenticatorId, token }) => {
        const only = { pubKeyCredParams: [{ type: 'public-key', alg }] }
        const added = await call(page, `add(${JSON.stringify(token)}, ${JSON.stringify(only)})`)
        expect([added.status, added.body['name']], JSON.stringify(added)).to.deep.equal([201, 'Laptop'])
        const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
        expect(
          credentials.map(({ isResidentCredential, rpId }) => [isResidentCredential, rpId]),
        ).to.deep.equal([[true, 'localhost']])
        for (let login = 0; login < 2; login++) {
          const { status, body } = await call(page, 'logIn()')
          expect([status, (body['user'] as { email: string }).email]).to.deep.equal([200, ADA.email])
          expect(claimsOf({ accessToken: body['accessToken'] } as never)['amr']).to.deep.equal(['pk', 'mfa'])
        }
        // The browser refuses a second passkey of the same device.
        const again = await call(
          page,
          `add(${JSON.stringify(token)}).catch(({ name }) => ({ body: { name } }))`,
        )
        expect(again.body['name']).to.equal('InvalidStateError')
      }))

  it('sign nobody in whom the device has not verified, nor with a challenge of another page', () =>
    onPage(async ({ page, cdp, authenticatorId, token }) => {
      await call(page, `add(${JSON.stringify(token)})`)
      const other = await call(page, `logIn({ challenge: '${'A'.repeat(43)}' })`)
      expect([other.status, other.body['code']]).to.deep.equal([401, 'invalid_passkey'])
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
      const unverified = await call(page, "logIn({ userVerification: 'discouraged' })")
      expect([unverified.status, unverified.body['code']]).to.deep.equal([401, 'invalid_passkey'])
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
      expect((await call(page, 'logIn()')).status).to.equal(200)
    }))
})
