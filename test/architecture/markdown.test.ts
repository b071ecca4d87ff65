import { expect } from 'chai'
import { anchorsOf, inlineCode, relativeLinks, tableRows } from './markdown.ts'

const DOCUMENT = `
# A \`Title\` & more

See [one](one.md), [two](../two.md#part "Two"), [site](https://example.com), [mail](mailto:a@b.c), [here](#again).

| Name    | Value    |
| ------- | -------: |
| \`first\` | a \\| b   |

## Again
## Again

\`\`\`ts
const link = '[no](no.md)' // \`code\`
\`\`\`
`

describe('the Markdown reader', () => {
  it('reads the rows of tables', () => {
    expect(tableRows(DOCUMENT)).to.deep.equal([
      ['Name', 'Value'],
      ['`first`', 'a \\| b'],
    ])
  })

  it('finds relative links outside code', () => {
    expect(relativeLinks(DOCUMENT)).to.deep.equal(['one.md', '../two.md#part', '#again'])
  })

  it('makes the anchors that GitHub makes', () => {
    expect(anchorsOf(DOCUMENT)).to.deep.equal(['a-title--more', 'again', 'again-1'])
  })

  it('finds inline code outside fences', () => {
    expect(inlineCode(DOCUMENT)).to.deep.equal(['Title', 'first'])
  })
})
