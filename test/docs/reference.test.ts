import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { expect } from 'chai'
import { relativeLinks } from '../architecture/markdown.ts'
import { withoutComments } from '../architecture/source-text.ts'
import { ROOT, entriesOf, listFiles, readPackages } from '../architecture/tree.ts'

/** Matches an entry that exports another package as it is. Its own documentation describes it. */
const FOREIGN = /^export \* from '[^.]/m
/** Finds names in `export { a, b as c }` and `export type { … }`, and names that are declared where they are exported. */
const LISTED = /^export (?:type )?\{([^}]*)\}/gm
const DECLARED =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:function|const|class|interface|type) (\w+)\b(?! *\{? *from)/gm

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

describe('docs/reference', () => {
  const entries = readPackages()
    .flatMap(entriesOf)
    .filter(({ source }) => !FOREIGN.test(read(source)))

  for (const { specifier, source } of entries)
    it(`has a heading for each export of ${specifier} (npm run docs -- --reference writes it)`, () => {
      const page = `docs/reference/${specifier.replace(/^@?mortar\//, '').replaceAll('/', '-')}.md`
      const headings = [...read(page).matchAll(/^### (.+)$/gm)].map(([, heading]) => heading!)
      expect(headings.toSorted()).to.deep.equal(exportsOf(read(source)).toSorted())
    })

  it('has no other pages than the index', () => {
    expect(listFiles('docs/reference')).to.have.length(entries.length + 1)
  })
})

describe('docs/README.md', () => {
  it('leads to each page of the documentation, by itself or by the index of a folder', () => {
    const indexes = [
      'docs/README.md',
      ...['adr', 'guides', 'reference'].map((name) => `docs/${name}/README.md`),
    ]
    const reached = indexes.filter((path) => existsSync(join(ROOT, path))).flatMap(linkedFrom)
    const pages = [...listFiles('docs'), ...listFiles('plugins')].filter((path) => path.endsWith('.md'))
    const expected = pages.filter(
      (path) => !/^docs\/(contributing\/|README\.md$)|\/CHANGELOG\.md$/.test(path),
    )
    expect(expected.filter((path) => !reached.includes(path))).to.deep.equal([])
  })
})

function linkedFrom(index: string): string[] {
  return relativeLinks(read(index)).map((link) => posix.join(dirname(index), link.split('#')[0]!))
}

function exportsOf(source: string): string[] {
  const text = withoutComments(source)
  const listed = [...text.matchAll(LISTED)].flatMap(([, names]) => names!.split(','))
  const names = listed.map((name) =>
    name
      .trim()
      .replace(/^type /, '')
      .replace(/^\w+ as /, ''),
  )
  return [...names.filter(Boolean), ...[...text.matchAll(DECLARED)].map(([, name]) => name!)]
}
