import { expect } from 'chai'
import { BRICKS_WITH_COMMANDS, COMMANDS } from '../../src/cli/commands/command-table.ts'
import { readPackages, readSources } from './tree.ts'

/** Phrases that name a command; nobody types them. */
const NAMES = [
  'Written by \\`mortar build\\`',
  'Run the output of mortar build',
  'The prompt of mortar console',
  'mortar new overwrites nothing',
  '`mortar reload` cannot reach',
  '`mortar limits` finds limits',
  "`mortar limits`'",
  '`mortar console` cannot make',
  'A command of `mortar auth` has',
]

const commands = [...Object.keys(COMMANDS), ...BRICKS_WITH_COMMANDS, 'help', '--version'].join('|')
const BARE = new RegExp(String.raw`(?<!npx )\bmortar (?:${commands})(?![\w-])`)

describe('A command in a message', () => {
  it('is written as it is typed in an application, whose PATH has no mortar: npx mortar', () => {
    const sources = Object.entries(readSources(readPackages().map(({ folder }) => folder)))
    const lines = sources.flatMap(([file, source]) =>
      source.split('\n').map((line) => `${file}: ${line.trim()}`),
    )
    const shown = lines.filter((line) => !/: (?:\/\/|\/?\*)/.test(line) && !/\w+: 'mortar \w+'/.test(line))
    const bare = shown.filter((line) => BARE.test(NAMES.reduce((text, name) => text.replace(name, ''), line)))
    expect(bare).to.deep.equal([])
    for (const name of NAMES)
      expect(
        shown.some((line) => line.includes(name)),
        name,
      ).to.equal(true)
  })
})
