import { expect } from 'chai'
import { linksOf, splitLinks } from '../../../plugins/mail/message-links.ts'

describe('The links of a message', () => {
  const inText = (text: string) =>
    splitLinks(text)
      .filter((piece) => piece.isLink)
      .map((piece) => piece.text)

  const cases: Record<string, readonly string[]> = {
    'Open https://example.com/reset?token=a-b_c.': ['https://example.com/reset?token=a-b_c'],
    '(see http://localhost:3000/x).': ['http://localhost:3000/x'],
    'https://en.wikipedia.org/wiki/Mortar_(masonry), next': [
      'https://en.wikipedia.org/wiki/Mortar_(masonry)',
    ],
    '<https://example.com/a>"https://example.com/b"': ['https://example.com/a', 'https://example.com/b'],
    'HTTPS://EXAMPLE.COM': ['HTTPS://EXAMPLE.COM'],
    'javascript:alert(1) data:text/html,x ftp://example.com file:///etc/passwd': [],
    'javascript://https://example.com/%0aalert(1)': ['https://example.com/%0aalert(1)'],
    'https://bank.example@evil.example/': [],
    'https:// http://? nothing': [],
    'https://example.com/\u202egnp.exe': ['https://example.com/'],
  }
  for (const [text, links] of Object.entries(cases))
    it(`are found in text: ${JSON.stringify(text)}`, () => {
      expect(inText(text)).to.deep.equal(links)
      expect(
        splitLinks(text)
          .map((piece) => piece.text)
          .join(''),
      ).to.equal(text)
    })

  it('are also read from the HTML, decoded, each once, and only web addresses', () => {
    const html = `<a href="https://example.com/?a=1&amp;b=2">x</a> <a href='https://example.com/two'>y</a>
      <a href=https://example.com/three>z</a> <a href="javascript:alert(1)">j</a> <a href="&#106;avascript:alert(1)">j</a>
      <a href=" https://example.com/two ">again</a> <a href="/relative">r</a> <a href="mailto:a@b.example">m</a>`
    expect(linksOf({ text: 'https://example.com/two', html })).to.deep.equal([
      'https://example.com/two',
      'https://example.com/?a=1&b=2',
      'https://example.com/three',
    ])
  })

  it('stay as they are written if a number is not that of a character', () => {
    const html = `<a href="https://example.com/&#x10FFFF;">last</a> <a href="https://example.com/&#x110000;">x</a>
      <a href="https://example.com/&#1114112;">decimal</a> <a href="https://example.com/&unknown;">name</a>`
    expect(linksOf({ text: null, html })).to.deep.equal([
      'https://example.com/\u{10FFFF}',
      'https://example.com/&#x110000;',
      'https://example.com/&#1114112;',
      'https://example.com/&unknown;',
    ])
  })

  it('are at most fifty', () => {
    const all = Array.from({ length: 60 }, (_, index) => `https://example.com/${index}`)
    expect(linksOf({ text: all.join(' '), html: null })).to.deep.equal(all.slice(0, 50))
  })

  it('are found in time linear in the length of any text', () => {
    const hostile = [
      'https://x' + '.'.repeat(500_000),
      'href="'.repeat(100_000),
      'https://'.repeat(100_000),
      ')'.repeat(500_000),
    ]
    const start = process.cpuUsage()
    for (const text of hostile) linksOf({ text, html: text })
    expect(process.cpuUsage(start).user / 1000, 'milliseconds').to.be.below(2000)
  })
})
