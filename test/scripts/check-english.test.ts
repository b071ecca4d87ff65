import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'

const SCRIPT = join(import.meta.dirname, '../../scripts/check-english.mjs')

describe('scripts/check-english.mjs', () => {
  let folder: string

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'english-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  function check(texts: Readonly<Record<string, string>>) {
    const files = Object.keys(texts).map((name) => join(folder, name))
    for (const [n, text] of Object.values(texts).entries()) writeFileSync(files[n]!, text)
    const { status, stdout } = spawnSync(process.execPath, [SCRIPT, ...files], { encoding: 'utf8' })
    return { status, lines: stdout.trim().split('\n') }
  }

  const AVOIDED = [
    '`auth` is no policy',
    'has the slot onStart, which is none',
    'the report says so',
    'Node is told that it was read',
    'a test is held to that',
    'a route stands in for it',
    'mends the pattern',
    'nobody vouches for it',
    'the present token',
    'both start at once',
    'a text that fits',
    'fault of it, for one, and more',
    'what comes of it',
    'the application is only looked at',
    'it reads what is left',
    'the answer of the server',
    'through both doors',
    'the same road',
    'takes the long way',
  ]

  const OPENINGS = ['What', 'Who', 'Whether', 'Where', 'How']

  describe('reports', () => {
    let status: number | null
    let lines: string[]

    // One process for all files, as a start takes longer than the search.
    before(() => {
      const pages = AVOIDED.map((sentence) => `# Title\n\n${sentence}\n`)
      const sources = OPENINGS.map((opening) => `const one = 1\n/**\n * ${opening} it does.\n */\n`)
      ;({ status, lines } = check({
        ...Object.fromEntries(pages.map((text, n) => [`page${n}.md`, text])),
        ...Object.fromEntries(sources.map((text, n) => [`code${n}.ts`, text])),
      }))
    })

    it('something, and exits with 1', () => expect(status).to.equal(1))

    for (const [n, sentence] of AVOIDED.entries())
      it(`"${sentence}"`, () => {
        const line = lines.find((each) => each.includes(`page${n}.md`))
        expect(line).to.match(/page\d+\.md:3: ".+"\. Write .+\.$/)
      })

    for (const [n, opening] of OPENINGS.entries())
      it(`a docstring that opens with ${opening}`, () => {
        const line = lines.find((each) => each.includes(`code${n}.ts`))
        expect(line).to.contain(`"${opening}"`)
      })
  })

  it('accepts the same facts in plain words', () => {
    const plain = [
      '/** Returns the whole body if it is already buffered, else null. */',
      'There is no note with this id. The session is no longer valid.',
      'The server answers. One request for one route.',
    ]
    expect(check({ 'plain.ts': plain.join('\n') })).to.deep.equal({ status: 0, lines: [''] })
  })
})
