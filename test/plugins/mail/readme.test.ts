import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const read = (file: string): string => readFileSync(join(import.meta.dirname, '../../..', file), 'utf8')
const firstCells = (text: string): string[] =>
  [...text.matchAll(/^\| `'?(\w+)'?` +\|/gm)].map((match) => match[1]!)

describe('The documents of the mail brick', () => {
  it('list every option, and no other', () => {
    const declared = read('plugins/mail/options.ts')
      .split('export interface MailOptions')[1]!
      .split('\n}')[0]!
    const options = [...declared.matchAll(/^ {2}readonly (\w+)\??:/gm)].map((match) => match[1]!)
    expect(options).to.include.members(['from', 'transport'])
    const table = read('plugins/mail/README.md')
      .split(/^\| Option /m)[1]!
      .split('\n\n')[0]!
    expect(firstCells(table)).to.have.members(options)
  })

  it('list every named transport', () => {
    const declared = /TransportName = (.*)/.exec(read('plugins/mail/options.ts'))![1]!
    const names = [...declared.matchAll(/'(\w+)'/g)].map((match) => match[1]!)
    const table = read('plugins/mail/README.md').split(/^\| `transport` +\| What/m)[1]!
    expect(firstCells(table)).to.have.members(names)
  })

  it('list every code of a MailError and of a StartupError', () => {
    const text = read('docs/mail.md')
    const codes = ['mail-error', 'settings', 'mailer', 'transports/open-transport'].flatMap((file) => [
      ...read(`plugins/mail/${file}.ts`).matchAll(/'((?:MORTAR_)?MAIL_[A-Z_]+)'|'(MORTAR_MAIL\w*)'/g),
    ])
    expect(codes.length).to.be.greaterThan(5)
    for (const [, code, other] of codes) expect(text).to.contain(`\`${code ?? other}\``)
  })
})
