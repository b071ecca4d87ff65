import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { createApp, createRouter } from 'mortar'
import { auth } from '@mortar/auth'
import { basicAuth } from '@mortar/auth/basic'
import * as schema from '@mortar/auth/basic/schema'
import * as challenges from '@mortar/auth/challenges/schema'
import { ticket } from '@mortar/auth/ticket'
import { database } from '@mortar/database'
import { defineSocket, realtime } from '@mortar/realtime'
import { channels } from '@mortar/realtime/channels'
import { object, string } from 'mortar/yup'
import { DIRECTORY } from '../plugins/realtime/channels/channel-app.ts'
import rooms from '../plugins/realtime/channels/files/rooms/[id].ts'
import { launchChromium, needChromium, watch, type Watched } from '../support/chromium.ts'

const message = object({ text: string().required() })
const HOSTILE = '<img src="data:," onerror="window.hacked = true">'

const echo = defineSocket(
  {
    auth: true,
    summary: HOSTILE,
    params: object({ id: string().required() }),
    receive: message,
    send: message,
  },
  async (_ctx, socket) => {
    for await (const { text } of socket) socket.send({ text: text.toUpperCase() })
  },
)

const create = () =>
  createApp({ environment: 'test', logger: false })
    .use(
      database({
        type: 'better-sqlite3',
        database: ':memory:',
        entities: [schema, challenges],
        synchronize: true,
      }),
    )
    .use(
      auth(
        basicAuth({
          secret: 'kQ2v8yB1tW9mZ4xC7nL0pR5sD3fG6hJa',
          cost: { memory: 1024, passes: 1, parallelism: 1 },
          features: [ticket()],
        }),
        { policies: { owner: () => true } },
      ),
    )
    .use(realtime())
    .use(channels({ directory: DIRECTORY }))
    .use(createRouter().get('/echo/:id', echo))

describe('documentation page with sockets in a browser', function () {
  needChromium()

  const app = create()
  let browser: Browser
  let page: Page
  let watched: Watched

  before(async () => {
    const [opened, { url }] = await Promise.all([launchChromium(), app.listen(0, '127.0.0.1')])
    browser = opened
    page = await browser.newPage()
    page.setDefaultTimeout(60_000)
    watched = watch(page)
    await page.goto(`${url}/docs`)
    await page.getByRole('button', { name: 'New test user' }).click()
    await page.getByRole('button', { name: 'Log out' }).waitFor()
    await page.getByText('Sockets and channels').click()
  })
  after(async () => {
    await browser?.close()
    await app.close()
  })

  const shown = (text: string) => page.locator('#sockets pre').getByText(text).waitFor()
  async function connect(channel: string, address: string): Promise<void> {
    await page.getByLabel('Socket or channel').selectOption({ label: channel })
    await page.getByLabel('Address').fill(address)
    await page.getByRole('button', { name: 'Connect' }).click()
    await shown(`Connected to ${address}`)
  }

  it('connects to a socket with a ticket, and shows the messages of both sides and the end', async () => {
    await connect(`/echo/{id}: ${HOSTILE}`, '/echo/7')
    await page.getByLabel('Message').fill('{"text":"hello"}')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await shown('> {"text":"hello"}')
    await shown('< {"text":"HELLO"}')
    await page.locator('#sockets').getByRole('button', { name: 'Close' }).click()
    await shown('Closed with 1000')
    expect(watched.requested.some((url) => url.endsWith('/auth/ticket'))).to.equal(true)
    expect(await page.evaluate('window.hacked')).to.equal(undefined)
    expect(watched.complaints).to.deep.equal([])
  })

  it('tells a refusal from an end', async () => {
    await page.getByLabel('Address').fill('/nowhere')
    await page.getByRole('button', { name: 'Connect' }).click()
    await shown('Refused')
    // The browser logs it too.
    watched.complaints.length = 0
  })

  it('subscribes to a channel, and shows its events', async () => {
    await connect('/rooms/{id} (channel)', '/rooms/1')
    await shown('"type":"subscribed"')
    await app.services.channels.publish(rooms({ id: '1' }), 'message', { text: 'from the server' })
    await shown('from the server')
    expect(watched.complaints).to.deep.equal([])
  })
})
