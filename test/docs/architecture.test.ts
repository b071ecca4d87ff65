import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { inlineCode, tableRows } from '../architecture/markdown.ts'
import { LAYERS } from '../architecture/rules.ts'
import { ROOT } from '../architecture/tree.ts'

const text = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')

describe('docs/architecture.md', () => {
  it('lists the layers in their order', () => {
    const [, afterHeader = ''] = text.split(/^\| Layer /m)
    const table = afterHeader.split('\n\n')[0]!
    const names = tableRows(table).flatMap(([first]) =>
      first?.startsWith('`') ? [first.replaceAll('`', '')] : [],
    )
    expect(names).to.deep.equal([...LAYERS])
  })

  it('names only files and folders that are there', () => {
    const paths = inlineCode(text).filter((code) =>
      /^(src|plugins|config|examples|test|scripts|bench)(\/|$)/.test(code),
    )
    expect(paths.length).to.be.greaterThan(8)
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).to.deep.equal([])
  })
})
