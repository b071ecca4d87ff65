import { expect } from 'chai'
import type { Browser, BrowserContext } from 'playwright-core'
import { launchChromium, needChromium, watch } from '../../../support/chromium.ts'
import { ADA, inWorld, PASSWORD } from '../support/world.ts'
import { stored, VERIFY, withLink, withVerification, type Scene } from './verification-scene.ts'

describe('The page of a link in a browser', function () {
  needChromium()

  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser?.close())

  /** Opens the link of a scene in a browser of its own. */
  async function inBrowser(
    scene: Scene,
    token: string,
    body: (page: Awaited<ReturnType<BrowserContext['newPage']>>) => Promise<void>,
    prepare: (context: BrowserContext, base: string) => Promise<unknown> = async () => undefined,
  ): Promise<void> {
    const { url } = await scene.app.listen(0, '127.0.0.1')
    const context = await browser.newContext()
    try {
      await prepare(context, url)
      const page = await context.newPage()
      const { complaints, requested } = watch(page)
      await page.goto(`${url}${VERIFY}#token=${token}`)
      expect(page.url()).to.equal(`${url}${VERIFY}`)
      expect(requested).to.deep.equal([`${url}${VERIFY}`])
      await body(page)
      // A 401 is a response of the application, which the browser reports too.
      expect(complaints.filter((complaint) => !complaint.includes('401'))).to.deep.equal([])
    } finally {
      await context.close()
    }
  }

  it('redeems the link by its button where the owner is signed in', () =>
    withVerification(inWorld, async (scene) => {
      const { token } = await withLink(scene)
      await inBrowser(
        scene,
        token,
        async (page) => {
          expect((await stored(scene)).email_verified_at).to.equal(null)
          await page.getByRole('button').click()
          await page.getByText('Your address is confirmed.').waitFor()
          expect((await stored(scene)).email_verified_at).to.not.equal(null)
          expect(await page.getByRole('button').isVisible()).to.equal(false)
        },
        async (context, base) => {
          const answer = await context.request.post(`${base}/auth/login`, { data: ADA })
          expect(answer.status()).to.equal(200)
        },
      )
    }))

  it('asks everybody else for the password, again after a wrong one', () =>
    withVerification(inWorld, async (scene) => {
      const { token } = await withLink(scene)
      await inBrowser(scene, token, async (page) => {
        const [button, field] = [page.getByRole('button'), page.getByLabel('Password of the account')]
        expect(await field.isVisible()).to.equal(false)
        await button.click()
        await page.getByText('Write the password of the account.').waitFor()
        await field.fill('wrong horse')
        await button.click()
        await page.getByText('Sign in to the account of this link').waitFor()
        await field.fill(PASSWORD)
        await button.click()
        await page.getByText('Your address is confirmed.').waitFor()
      })
    }))

  it('reports a link that is not valid', () =>
    withVerification(inWorld, async (scene) => {
      await inBrowser(scene, '%3Cb%3E', async (page) => {
        await page.getByRole('button').click()
        await page.getByLabel('Password of the account').fill(PASSWORD)
        await page.getByRole('button').click()
        await page.getByText('The link is not valid; ask for a new one.').waitFor()
        expect(await page.getByRole('button').isVisible()).to.equal(false)
      })
    }))
})
