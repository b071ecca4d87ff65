import { expect } from 'chai'
import type { MailOptions } from '@mortar/mail'
import { rawRequest } from '../../support/raw-request.ts'
import { rejection, startMailApp } from './mail-app.ts'

describe('Access to the mail page', () => {
  const status = async (
    headers: Record<string, string>,
    options: Partial<MailOptions> = {},
    { appUrl, peer }: { appUrl?: string; peer?: string } = {},
  ) => {
    const app = await startMailApp(options, appUrl === undefined ? {} : { appUrl })
    const response = await app.inject({
      url: '/_framework/mail',
      headers,
      ...(peer === undefined ? {} : { remoteAddress: peer }),
    })
    await app.close()
    // A refusal has the headers of the page too, unless there is no page.
    if (response.statusCode !== 404) expect(response.headers['cache-control']).to.equal('no-store')
    return response.statusCode
  }

  const hosts: Record<string, number> = {
    localhost: 200,
    'localhost:3000': 200,
    'LOCALHOST.:3000': 200,
    'app.localhost:3000': 200,
    '127.0.0.1:3000': 200,
    '192.168.0.20:3000': 200,
    '[::1]:3000': 200,
    'evil.example': 403,
    'evil.example:3000': 403,
    'localhost.evil.example': 403,
    'app.localhost.evil.example': 403,
    'evil-localhost': 403,
    '127.0.0.1.evil.example': 403,
    'localhost:3000@evil.example': 403,
    '[::1].evil.example': 403,
  }
  for (const [host, expected] of Object.entries(hosts))
    it(`is ${expected === 200 ? 'allowed' : 'refused'} for Host ${host}`, async () => {
      expect(await status({ host })).to.equal(expected)
    })

  it('is refused without a Host header', async () => {
    const app = await startMailApp()
    const { port } = await app.listen(0)
    expect((await rawRequest(port, 'GET /_framework/mail HTTP/1.0\r\n\r\n')).status).to.equal(403)
    await app.close()
  })

  for (const peer of ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])
    it(`is allowed for a connection from ${peer}`, async () => {
      expect(await status({}, {}, { peer })).to.equal(200)
    })

  for (const peer of [
    '192.168.0.7',
    '172.17.0.1',
    '8.8.8.8',
    '::ffff:10.0.0.1',
    'fe80::1',
    '128.0.0.1',
    '::127.0.0.1',
  ])
    it(`is refused for a connection from ${peer}, unless the page is open`, async () => {
      expect(await status({}, {}, { peer })).to.equal(403)
      expect(await status({}, { page: true }, { peer })).to.equal(200)
      expect(await status({}, { page: { hosts: ['dev.test'] } }, { peer })).to.equal(200)
    })

  const forwarding = [
    'Forwarded',
    'Via',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
    'X-Real-IP',
  ]
  for (const header of [
    ...forwarding,
    'CF-Connecting-IP',
    'True-Client-IP',
    'X-Client-IP',
    'X-Original-Host',
  ])
    it(`is refused for a request that a proxy forwards: ${header}`, async () => {
      expect(await status({ [header]: '127.0.0.1' })).to.equal(403)
      expect(await status({ [header]: '' })).to.equal(403)
      expect(await status({ [header]: '127.0.0.1' }, { page: true })).to.equal(200)
    })

  it('is refused under a foreign host name, also on an open page; the host of appUrl needs an open page', async () => {
    const appUrl = 'https://my.app.test'
    expect(await status({ host: 'my.app.test' }, {}, { appUrl })).to.equal(403)
    expect(await status({ host: 'my.app.test' }, { page: true }, { appUrl })).to.equal(200)
    expect(await status({ host: 'evil.example' }, { page: true }, { appUrl })).to.equal(403)
    expect(await status({ host: 'mail.test:3000' }, { page: { hosts: ['Mail.test'] } })).to.equal(200)
    expect(await status({ host: 'evil.example' }, { page: { hosts: ['mail.test'] } })).to.equal(403)
  })

  it('is impossible when there is no page', async () => {
    expect(await status({}, { page: false })).to.equal(404)
  })

  it('is configured by page: true, false or { hosts }, and nothing else', async () => {
    const wrong: unknown[] = [
      'yes',
      null,
      {},
      { hosts: [] },
      { hosts: ['https://x'] },
      { hosts: ['x:80'] },
      { host: ['x'] },
    ]
    for (const page of wrong)
      expect((await rejection(startMailApp({ page: page as boolean }))).name, JSON.stringify(page)).to.match(
        /^StartupErrors?$/,
      )
  })

  it('causes a warning in the log when everybody has it', async () => {
    const lines: string[] = []
    const logger = {
      debug() {},
      info() {},
      warn: (text: unknown) => void lines.push(String(text)),
      error() {},
      child: () => logger,
    }
    for (const page of [undefined, false, true]) {
      const app = await startMailApp(page === undefined ? {} : { page }, { logger })
      await app.close()
    }
    expect(lines).to.have.length(1)
    expect(lines[0]).to.contain('/_framework/mail')
  })

  it('is refused to scripts of another site, but its links may lead here', async () => {
    expect(await status({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' })).to.equal(403)
    expect(await status({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).to.equal(403)
    expect(await status({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).to.equal(200)
    expect(await status({ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' })).to.equal(200)
  })
})
