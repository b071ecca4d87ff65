import { expect } from 'chai'
import type { MailOptions } from '../../../plugins/mail/index.ts'
import { startMailApp } from './mail-app.ts'

describe('Who may see the mail page', () => {
  const status = async (
    headers: Record<string, string>,
    options: Partial<MailOptions> = {},
    appUrl?: string,
  ) => {
    const app = await startMailApp(options, appUrl === undefined ? {} : { appUrl })
    const response = await app.inject({ url: '/_framework/mail', headers })
    await app.close()
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
    'evil-localhost': 403,
    '127.0.0.1.evil.example': 403,
    'localhost:3000@evil.example': 403,
    '[::1].evil.example': 403,
  }
  for (const [host, expected] of Object.entries(hosts))
    it(`is ${expected === 200 ? 'whoever' : 'nobody who'} asks for Host ${host}`, async () => {
      expect(await status({ host })).to.equal(expected)
    })

  it('is also who asks for a configured host or the address of the application', async () => {
    expect(await status({ host: 'mail.test:3000' }, { hosts: ['Mail.test'] })).to.equal(200)
    expect(await status({ host: 'my.app.test' }, {}, 'https://my.app.test')).to.equal(200)
    expect(await status({ host: 'evil.example' }, { hosts: ['mail.test'] }, 'https://my.app.test')).to.equal(
      403,
    )
  })

  it('is no script of another site, though its links may lead here', async () => {
    expect(await status({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' })).to.equal(403)
    expect(await status({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).to.equal(403)
    expect(await status({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).to.equal(200)
    expect(await status({ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' })).to.equal(200)
  })
})
