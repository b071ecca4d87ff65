import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { expect } from 'chai'
import { PROBLEM_CODES } from '../../src/errors/codes.ts'
import { ownBricks } from './own-bricks.ts'
import { inlineCode, sectionOf, tableRows } from './markdown.ts'
import { exportedOptions, readOptions } from './read-options.ts'
import { withoutComments } from './source-text.ts'
import { ROOT, entriesOf, listFiles, readPackages, readSources } from './tree.ts'

const WHOLE_CODE = /['"](MORTAR_[A-Z]+(?:_[A-Z]+)*)['"]|^\s*(MORTAR_[A-Z]+(?:_[A-Z]+)*):/gm
/** A code anywhere in a document. A code that ends with `_`, before `*` or `…`, is a prefix. */
const NAMED_CODE = /\bMORTAR_[A-Z]+(?:_[A-Z]+)*\b(?!_)/g
const CODE_PREFIX = /\b(MORTAR_[A-Z_]+_)\$\{/g

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function codeCells(document: string): string[][] {
  return codeRows(read(document))
}

function codeRows(markdown: string): string[][] {
  return tableRows(markdown)
    .filter(([first]) => first?.startsWith('`'))
    .map(([first, ...rest]) => [first!.replaceAll('`', ''), ...rest])
}

describe('docs/errors.md', () => {
  const owners = [
    { heading: 'Of the core', problems: PROBLEM_CODES },
    ...ownBricks().map(({ name, problems }) => ({
      heading: `Of the ${name} brick`,
      problems: problems ?? {},
    })),
  ].filter(({ problems }) => Object.keys(problems).length > 0)

  for (const { heading, problems } of owners)
    it(`has one row for each problem code under "${heading}", with its status and title`, () => {
      const documented = problemRows(sectionOf(read('docs/errors.md'), heading))
      expect(documented).to.have.deep.members(
        Object.entries(problems).map(([code, { status, title }]) => ({ code, status, title })),
      )
    })

  it('has no problem code without an owner', () => {
    const owned = owners.flatMap(({ heading }) => problemRows(sectionOf(read('docs/errors.md'), heading)))
    expect(problemRows(read('docs/errors.md'))).to.have.deep.members(owned)
  })
})

/** The rows of problem codes: each has a code in lower case and a status. */
function problemRows(markdown: string) {
  const rows = codeRows(markdown).filter(
    ([code, status]) => /^[a-z_]+$/.test(code!) && /^\d{3}$/.test(status ?? ''),
  )
  return rows.map(([code, status, title]) => ({ code, status: Number(status), title }))
}

describe('docs/startup-errors.md', () => {
  const documented = () => codeCells('docs/startup-errors.md').map(([code]) => code!)
  const sources = Object.values(sourcesThatThrow(['src', 'plugins']))
  const codes = new Set(sources.flatMap(codesIn))
  const prefixes = sources.flatMap((source) => [...source.matchAll(CODE_PREFIX)].map((match) => match[1]!))

  it('has a row for each startup code of the sources', () => {
    const rows = new Set(documented())
    expect([...codes].filter((code) => !rows.has(code))).to.deep.equal([])
  })

  it('has no row for a code that nothing uses', () => {
    const given = (code: string) => codes.has(code) || prefixes.some((prefix) => code.startsWith(prefix))
    expect(documented().filter((code) => !given(code))).to.deep.equal([])
  })

  for (const { name, startupCodes = {} } of ownBricks())
    it(`has cause and remedy of each start-up code of the ${name} brick as its slot declares them`, () => {
      const rows = codeCells('docs/startup-errors.md').filter(([code]) => Object.hasOwn(startupCodes, code!))
      expect(
        Object.fromEntries(rows.map(([code, cause, remedy]) => [code, { cause, remedy }])),
      ).to.deep.equal(startupCodes)
    })

  for (const { name, startupCodes = {} } of ownBricks())
    it(`has a start-up code of the ${name} brick for each code of its sources`, () => {
      const own = Object.entries(sourcesThatThrow(packagesOf(name)))
        .filter(([path]) => name === 'channels' || !path.startsWith(CHANNELS))
        .flatMap(([, source]) => codesIn(source))
      expect([...new Set(own)]).to.have.members(Object.keys(startupCodes))
    })

  it('has a row for each code that a comment, a message or a document names', () => {
    const rows = new Set(documented())
    const documents = [...listFiles('docs'), ...listFiles('plugins')].filter((path) => path.endsWith('.md'))
    const named = [...sources, ...documents.map(read)].flatMap((text) => text.match(NAMED_CODE) ?? [])
    expect([...new Set(named)].filter((code) => !rows.has(code))).to.deep.equal([])
  })

  it('has one row for each code', () => {
    expect(documented()).to.deep.equal([...new Set(documented())])
  })
})

/** The folder of the one brick without a package of its own. */
const CHANNELS = 'plugins/realtime/channels'

/** The package of a brick, and those of its variants: `auth` and `auth-hosted`. */
function packagesOf(brick: string): string[] {
  if (brick === 'channels') return [CHANNELS]
  const folders = readPackages().map(({ folder }) => folder)
  return folders.filter((folder) => new RegExp(`^plugins/${brick}(-|$)`).test(folder))
}

/** Without the tables of codes, in which each code would find itself. */
function sourcesThatThrow(folders: readonly string[]): Record<string, string> {
  const sources = Object.entries(readSources(folders))
  return Object.fromEntries(sources.filter(([path]) => !path.endsWith('/startup-codes.ts')))
}

function codesIn(source: string): string[] {
  return [...withoutComments(source).matchAll(WHOLE_CODE)].map((match) => (match[1] ?? match[2])!)
}

describe('package.json', () => {
  it('exports only entries that exist', () => {
    const sources = readPackages()
      .flatMap(entriesOf)
      .map(({ source }) => source)
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
  const sources = readPackages()
    .flatMap(entriesOf)
    .map(({ source }) => source)
  return sources.filter((path) => existsSync(join(ROOT, path)))
}

/** Beginnings of the inline code in the pages that may describe an option: the project's, and the brick's own. */
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
