import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { text as read } from 'node:stream/consumers'
import { expect } from 'chai'
import { skipSuite } from '../../support/servers.ts'
import { bundleScript } from '../../support/bundle-script.ts'
import { withMailApp, startMailApp } from './mail-app.ts'

describe('The terminal transport', () => {
  const printed = async (message: object, config = {}) => {
    const chunks: string[] = []
    const output = { write: (text: string) => chunks.push(text) }
    const app = await startMailApp({ transport: 'terminal', output }, config)
    const sent = await app.services.mailer.send({ to: 'ada@example.com', subject: 'Reset', ...message })
    await app.close()
    return { text: chunks.join(''), id: sent.id }
  }

  it('prints recipient, subject, every link, and the page of the message', async () => {
    const { text, id } = await printed({
      text: 'Open https://example.com/reset?token=abc',
      html: '<a href="https://example.com/other?a=1&amp;b=2">other</a>',
      attachments: [{ filename: 'terms.pdf', content: 'x' }],
    })
    for (const part of [
      'to       ada@example.com',
      'from     Mortar <hello@example.com>',
      'subject  Reset',
      'files    terms.pdf',
      'Open https://example.com/reset?token=abc',
      'link     https://example.com/other?a=1&b=2',
      `read it  /_framework/mail/${id}`,
    ])
      expect(text).to.contain(part)
    expect(text.match(/token=abc/g), 'printed once').to.have.length(1)
  })

  it('prints the full URL of the page when appUrl is set', async () => {
    const { text, id } = await printed({ text: 'Hi' }, { appUrl: 'http://localhost:3000/' })
    expect(text).to.contain(`read it  http://localhost:3000/_framework/mail/${id}`)
  })

  it('prints no escape sequence of a message', async () => {
    const { text } = await printed({
      subject: 'Hi \u001b[2J\u009b31m',
      text: 'one\u001b]0;title\u0007\u202egnp.exe\rtwo',
      attachments: [{ filename: '\u001b[31m\u009b32m\u202etxt.exe', content: 'x' }],
    })
    // oxlint-disable-next-line no-control-regex -- the test finds control characters
    expect(text.replaceAll('\n', '')).not.to.match(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/)
  })

  it('prints no control character of a link in HTML', async () => {
    for (const code of ['&#27;[2J', '&#13;', '&#10;forged', '&#9;', '&#x9b;31m', '&#8238;', '&#8232;']) {
      const { text } = await printed({ text: 'Hi', html: `<a href="https://example.com/${code}x">go</a>` })
      expect(text, code).to.contain('link     https://example.com/')
      // oxlint-disable-next-line no-control-regex -- the test finds control characters
      expect(text.replaceAll('\n', ''), code).not.to.match(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/)
      expect(text, code).not.to.match(/^forged/m)
    }
  })

  it('prints the first twenty lines, and how many follow', async () => {
    for (const [count, rest] of [
      [20, undefined],
      [21, '… 1 more lines'],
    ] as const) {
      const lines = Array.from({ length: count }, (_, index) => `line ${index + 1}.`)
      const { text } = await printed({ text: lines.join('\n') })
      expect(text).to.contain('line 20.').and.not.contain('line 21.')
      expect(/….*/.exec(text)?.[0], String(count)).to.equal(rest)
    }
  })

  it('shortens a long text but prints the links of the part that it cut off', async () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `line ${index}`)
    const { text } = await printed({ text: [...lines, 'https://example.com/at-the-end'].join('\n') })
    expect(text.split('\n').length).to.be.below(40)
    expect(text).to.contain('… 981 more lines').and.to.contain('link     https://example.com/at-the-end')
  })

  it('is the default outside production, and prints to the log under test', async () => {
    const lines: unknown[] = []
    const logger = {
      debug() {},
      info: (text: unknown) => lines.push(text),
      warn() {},
      error() {},
      child: () => logger,
    }
    const app = await startMailApp({ transport: undefined }, { logger })
    await app.services.mailer.send({ to: 'ada@example.com', subject: 'Reset', text: 'Hi' })
    await app.close()
    expect(lines.filter((line) => String(line).includes('subject  Reset'))).to.have.length(1)
  })

  it('captures its output', async () => {
    await withMailApp({ transport: 'terminal', output: { write: () => true } }, async ({ services }) => {
      await services.mailer.send({ to: 'ada@example.com', subject: 'Reset', text: 'Hi' })
      expect(services.mailOutbox.list()).to.have.length(1)
    })
  })
})

describe('The terminal transport whose output fails', function () {
  if (process.platform !== 'linux') skipSuite('The test writes to /dev/full.')

  for (const [name, open] of [
    ['a full disk', (): number => openSync('/dev/full', 'w')],
    ['a reader that is gone', (): 'pipe' => 'pipe'],
  ] as const)
    it(`ends no process: ${name}`, async () => {
      const stdout = open()
      const script = await bundleScript(join(import.meta.dirname, '../../fixtures/mail/printing.ts'))
      const child = spawn(process.execPath, [script], { stdio: ['ignore', stdout, 'pipe', 'ipc'] })
      if (typeof stdout === 'number') closeSync(stdout)
      child.stdout?.destroy()
      const messages: unknown[] = []
      child.on('message', (message) => messages.push(message))
      const [errors] = await Promise.all([read(child.stderr!), once(child, 'close')])
      expect([errors, messages, child.exitCode]).to.deep.equal(['', ['alive'], 0])
    })
})
