import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { expect } from 'chai'
import { PROBLEM_CODES } from '../../src/errors/codes.ts'
import { inlineCode, tableRows } from './markdown.ts'
import { exportedOptions, readOptions } from './read-options.ts'
import { withoutComments } from './source-text.ts'
import { ROOT, listFiles, readManifest, readSources } from './tree.ts'

const WHOLE_CODE = /['"](MORTAR_[A-Z]+(?:_[A-Z]+)*)['"]|^\s*(MORTAR_[A-Z]+(?:_[A-Z]+)*):/gm
const CODE_PREFIX = /\b(MORTAR_[A-Z_]+_)\$\{/g

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function codeCells(document: string): string[][] {
  return tableRows(read(document))
    .filter(([first]) => first?.startsWith('`'))
    .map(([first, ...rest]) => [first!.replaceAll('`', ''), ...rest])
}

describe('docs/errors.md', () => {
  it('has one row for each problem code, with its status and title', () => {
    const rows = codeCells('docs/errors.md').filter(([code]) => /^[a-z_]+$/.test(code!))
    const table = rows.filter(([, status]) => /^\d{3}$/.test(status ?? ''))
    const documented = table.map(([code, status, title]) => ({ code, status: Number(status), title }))
    const defined = Object.entries(PROBLEM_CODES).map(([code, entry]) => ({ code, ...entry }))
    expect(documented).to.have.deep.members(defined)
  })
})

describe('docs/startup-errors.md', () => {
  const documented = () => codeCells('docs/startup-errors.md').map(([code]) => code!)
  const sources = Object.values(readSources(['src', 'plugins']))
  const codes = new Set(
    sources.flatMap((source) =>
      [...withoutComments(source).matchAll(WHOLE_CODE)].map((m) => (m[1] ?? m[2])!),
    ),
  )
  const prefixes = sources.flatMap((source) => [...source.matchAll(CODE_PREFIX)].map((match) => match[1]!))

  it('has a row for each startup code of the sources', () => {
    const rows = new Set(documented())
    expect([...codes].filter((code) => !rows.has(code))).to.deep.equal([])
  })

  it('has no row for a code that nothing gives', () => {
    const given = (code: string) => codes.has(code) || prefixes.some((prefix) => code.startsWith(prefix))
    expect(documented().filter((code) => !given(code))).to.deep.equal([])
  })

  it('has one row a code', () => {
    expect(documented()).to.deep.equal([...new Set(documented())])
  })
})

describe('package.json', () => {
  it('exports only entries that exist', () => {
    const targets = Object.values(readManifest().exports)
    const sources = targets.map((target) => (typeof target === 'string' ? target : target.source))
    expect(sources.filter((path) => !existsSync(join(ROOT, path)))).to.deep.equal([])
  })
})

describe('the documentation of options', () => {
  for (const entry of publicEntries())
    for (const { name, from } of exportedOptions(read(entry))) {
      const file = from === undefined ? entry : posix.join(dirname(entry), from)
      if (!file.endsWith('.ts')) continue
      it(`names every key of ${name}`, () => {
        const keys = readOptions(read(file), name)?.keys ?? []
        expect(keys.filter((key) => !documentedKeys(file).has(key))).to.deep.equal([])
      })
    }
})

function publicEntries(): string[] {
  const targets = Object.values(readManifest().exports)
  const sources = targets.flatMap((target) =>
    typeof target === 'string' ? [] : [posix.normalize(target.source)],
  )
  return sources.filter((path) => existsSync(join(ROOT, path)))
}

/** What inline code begins with in the pages that may tell of an option: the project's, and the brick's own. */
function documentedKeys(file: string): Set<string> {
  const [top, brick] = file.split('/')
  const pages = [
    ...listFiles('docs'),
    'README.md',
    ...(top === 'plugins' ? [`plugins/${brick}/README.md`] : []),
  ]
  const present = pages.filter((page) => page.endsWith('.md') && existsSync(join(ROOT, page)))
  const words = present.flatMap((page) => inlineCode(read(page))).map((code) => /^\w+/.exec(code)?.[0] ?? '')
  return new Set(words)
}
