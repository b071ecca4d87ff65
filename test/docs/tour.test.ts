import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { startNotes, type RunningNotes } from '../examples/running-notes.ts'
import { expectOutput } from './expect-output.ts'
import { type Block, readBlocks } from './read-blocks.ts'
import { openShell, type Shell } from './shell.ts'

/** The commands of one block, with the output that is shown behind it, if any. */
interface Step {
  readonly commands: Block
  readonly shown: Block | undefined
}

function stepsOf(blocks: readonly Block[]): Step[] {
  return blocks.flatMap((block, index) => {
    const next = blocks[index + 1]
    const shown = next?.language === 'text' ? next : undefined
    return block.language === 'sh' ? [{ commands: block, shown }] : []
  })
}

describe('the first command of the README and the tour behind it', function () {
  const [start] = stepsOf(readBlocks('README.md'))
  const steps = stepsOf(readBlocks('docs/tour.md'))
  let notes: RunningNotes
  let shell: Shell

  before(async () => {
    notes = await startNotes()
    shell = openShell(notes.directory)
  })

  after(async () => {
    await shell.end()
    expect(await notes.stop()).to.equal(0)
  })

  const here = (code: string): string => code.replaceAll(/(localhost|127\.0\.0\.1):3000/g, `$1:${notes.port}`)

  it('make the secret and the database and prints the addresses', () => {
    expect(start!.commands.code).to.equal('npm install && npm start\n')
    expect(existsSync(join(notes.directory, '.env'))).to.equal(true)
    expect(existsSync(join(notes.directory, 'data/notes.db'))).to.equal(true)
    const shown = start!.shown!
    // Lines of the log are readable ones on a terminal only, and come in between.
    const lines = notes
      .output()
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('{"level":'))
    const printed = lines.slice(-shown.code.trim().split('\n').length)
    expectOutput(printed.join('\n'), here(shown.code), placeOf(shown))
  })

  it('print the output that the tour shows, command by command', async () => {
    expect(steps.length).to.be.greaterThan(8)
    for (const { commands, shown } of steps) {
      if (commands.code.includes('/_framework/mail')) await mailHasArrived(notes.url)
      const printed = await shell.run(here(commands.code))
      expectOutput(printed, here(shown?.code ?? ''), placeOf(shown ?? commands))
    }
  })
})

/** Waits for the mail, because the response to forgot-password does not; a reader is slower than the mail. */
async function mailHasArrived(url: string): Promise<void> {
  for (let round = 0; round < 500; round++) {
    const answer = await fetch(`${url}/_framework/mail`, { headers: { accept: 'application/json' } })
    if (((await answer.json()) as { messages: unknown[] }).messages.length > 0) return
  }
  throw new Error('No mail arrived.')
}

function placeOf({ file, line }: Block): string {
  return `${file}:${line}`
}
