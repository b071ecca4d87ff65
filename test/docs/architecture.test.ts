import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { inlineCode, tableRows } from '../architecture/markdown.ts'
import { LAYERS } from '../architecture/rules.ts'
import { ROOT, listFiles } from '../architecture/tree.ts'

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

  it('names only existing files and folders', () => {
    expect(namedPaths(text).length).to.be.greaterThan(8)
    expect(namedPaths(text).filter((path) => !existsSync(join(ROOT, path)))).to.deep.equal([])
  })
})

describe('the pages for contributors', () => {
  const pages = [
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...listFiles('docs/adr'),
    ...listFiles('docs/contributing'),
  ]

  for (const page of pages)
    it(`${page} names only existing files and folders`, () => {
      const paths = namedPaths(readFileSync(join(ROOT, page), 'utf8'))
      expect(paths.filter((path) => !existsSync(join(ROOT, path)))).to.deep.equal([])
    })

  it('list each decision record once, in the order of their numbers', () => {
    const records = listFiles('docs/adr').filter((path) => !path.endsWith('README.md'))
    const listed = [
      ...readFileSync(join(ROOT, 'docs/adr/README.md'), 'utf8').matchAll(/\]\((\d{4}-[\w-]+\.md)\)/g),
    ]
    expect(listed.map(([, name]) => `docs/adr/${name}`)).to.deep.equal(records.toSorted())
  })
})

function namedPaths(page: string): string[] {
  return inlineCode(page).filter((code) =>
    /^(src|plugins|config|examples|test|scripts|bench)(\/|$)/.test(code),
  )
}
