import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { App } from 'mortar'
import { needsProgram } from '../../deploy/files.ts'
import { startProxyServer } from '../../deploy/running-proxy.ts'
import { surroundSite } from '../../deploy/surround-site.ts'
import { rawRequest } from '../../support/raw-request.ts'
import { startMailApp } from './mail-app.ts'

const PATH = '/_framework/mail'

describe('The mail page behind a proxy that adds no header', () => {
  let app: App
  let port: number
  beforeEach(async () => {
    app = await startMailApp()
    port = (await app.listen(0)).port
  })
  afterEach(() => app.close())

  const ask = (lines: string[], version = '1.1') =>
    rawRequest(
      port,
      [`GET ${PATH} HTTP/${version}`, `Host: 127.0.0.1:${port}`, ...lines, '', ''].join('\r\n'),
      500,
    )

  for (const [form, lines, version] of [
    ['HTTP/1.0 and a connection for one request, as nginx', ['Connection: close'], '1.0'],
    ['HTTP/1.0', [], '1.0'],
    ['HTTP/1.0 and a kept connection', ['Connection: keep-alive'], '1.0'],
    ['a connection for one request', ['Connection: close'], '1.1'],
    ['a connection for one request, in other letters', ['Connection: Close, TE'], '1.1'],
    [
      'the headers of a browser',
      ['Connection: close', 'Sec-Fetch-Site: none', 'Sec-Fetch-Mode: navigate'],
      '1.0',
    ],
  ] as const)
    it(`is refused with the reason and the way to go on: ${form}`, async () => {
      const { status, text } = await ask([...lines], version)
      expect(status).to.equal(403)
      expect(text).to.include('through a proxy').and.include('without the proxy').and.include('page: true')
    })

  it('is open to a browser and to curl on this machine', async () => {
    expect((await ask([])).status).to.equal(200)
    expect((await ask(['Connection: keep-alive', 'Sec-Fetch-Site: none'])).status).to.equal(200)
    expect((await fetch(`http://127.0.0.1:${port}${PATH}`)).status).to.equal(200)
    expect((await fetch(`http://localhost:${port}${PATH}`)).status).to.equal(200)
  })

  describe('nginx with one line of configuration', () => {
    needsProgram('nginx')

    it('is refused', async () => {
      const proxy = await startProxyServer(({ directory, port: front }) => {
        const site = `server { listen 127.0.0.1:${front}; location / { proxy_pass http://127.0.0.1:${port}; } }`
        const file = join(directory, 'nginx.conf')
        writeFileSync(file, surroundSite(directory, site))
        return ['nginx', '-c', file]
      })
      try {
        const response = await fetch(proxy.url + PATH, { headers: { accept: 'application/json' } })
        expect(response.status).to.equal(403)
        expect(await response.text()).to.include('through a proxy')
      } finally {
        await proxy.stop()
      }
    })
  })
})
