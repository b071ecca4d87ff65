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

  function check(name: string, text: string) {
    const file = join(folder, name)
    writeFileSync(file, text)
    const { status, stdout } = spawnSync(process.execPath, [SCRIPT, file], { encoding: 'utf8' })
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

  for (const sentence of AVOIDED)
    it(`reports "${sentence}"`, () => {
      const { status, lines } = check('page.md', `# Title\n\n${sentence}\n`)
      expect(status).to.equal(1)
      expect(lines[0]).to.match(/page\.md:3: ".+"\. Write .+\.$/)
    })

  for (const opening of ['What', 'Who', 'Whether', 'Where', 'How'])
    it(`reports a docstring that opens with ${opening}`, () => {
      const { status, lines } = check('code.ts', `const one = 1\n/**\n * ${opening} it does.\n */\n`)
      expect(status).to.equal(1)
      expect(lines[0]).to.contain(`"${opening}"`)
    })

  it('accepts the same facts in plain words', () => {
    const plain = [
      '/** Returns the whole body if it is already buffered, else null. */',
      'There is no note with this id. The session is no longer valid.',
      'The server answers. One request for one route.',
    ]
    expect(check('plain.ts', plain.join('\n'))).to.deep.equal({ status: 0, lines: [''] })
  })
})
