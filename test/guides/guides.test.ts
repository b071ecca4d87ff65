import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { ROOT } from '../architecture/tree.ts'
import { expectOutput } from '../docs/expect-output.ts'
import { type Block, readBlocks } from '../docs/read-blocks.ts'
import { openShell } from '../docs/shell.ts'
import { freePort } from '../support/free-port.ts'
import {
  databaseOf,
  type GuideApplication,
  removeApplication,
  startInDevelopment,
  writeApplication,
} from './guide-application.ts'
import { followGuide, pathOf } from './guide-files.ts'
import { newApplication } from './new-application.ts'
import { runOwnTests } from './run-own-tests.ts'

const GENERATE = /^npm run migrate -- generate '(?<name>[^']+)'\n$/

/** Its servers are those of a test of its own. */
const DEPLOYING = 'deploying-with-postgresql-and-nginx.md'

/** The tests of a new application, and their number. */
const OWN_TESTS = 'test/notes.test.ts'
const OWN_TITLES = 3

const guides = readdirSync(join(ROOT, 'docs/guides')).filter(
  (name) => name !== DEPLOYING && name !== 'README.md',
)

describe('the guides', function () {
  for (const guide of guides) {
    const blocks = readBlocks(join('docs/guides', guide))
    const tests = blocks.map(pathOf).filter((path) => path?.endsWith('.test.ts')) as string[]

    describe(guide, () => {
      let directory: string
      before(async () => {
        directory = writeApplication(followGuide(await newApplication(), blocks))
      })
      after(() => removeApplication(directory))

      it('shows the output of its commands', async () => {
        const running = await startInDevelopment(directory, readFileSync(join(directory, '.env'), 'utf8'))
        try {
          await runCommands(directory, running, blocks)
        } finally {
          await running.app.close()
        }
      })

      if (tests.length > 0)
        it('has a test that passes, and so do those of the new application', async () => {
          const copy = `${directory}-test`
          cpSync(directory, copy, { recursive: true })
          try {
            const { passed, failed } = await runOwnTests(copy, [OWN_TESTS, ...tests])
            if (failed.length > 0) throw failed[0]!
            expect(passed.length).to.be.above(OWN_TITLES)
          } finally {
            removeApplication(copy)
          }
        })
    })
  }
})

/** Runs the blocks of `curl` in one shell, and compares the output with the block behind; generates migrations. */
async function runCommands(
  directory: string,
  { app, port }: GuideApplication,
  blocks: readonly Block[],
): Promise<void> {
  const shell = openShell(directory)
  const second = await freePort()
  const here = (text: string): string =>
    text
      .replaceAll('localhost:3000', `127.0.0.1:${port}`)
      .replaceAll('localhost:3001', `127.0.0.1:${second}`)
      .replaceAll('PORT=3001', `PORT=${second}`)
  try {
    await shell.run(
      `export NODE_ENV=development NODE_OPTIONS=--conditions=source DATABASE_URL=${databaseOf(directory)}`,
    )
    for (const [index, { language, code, file, line }] of blocks.entries()) {
      if (language !== 'sh') continue
      const migration = GENERATE.exec(code)?.groups!['name']
      if (migration !== undefined) {
        expect(await app.services.migrations.generate(migration), `${file}:${line}`).to.be.an('object')
        await app.services.migrations.run()
      }
      if (!/\bcurl |^node /m.test(code)) continue
      const printed = await shell.run(here(code))
      const next = blocks[index + 1]
      const isOutput = next?.language === 'text' || next?.language === 'http'
      expectOutput(printed.replaceAll('\r', ''), here(isOutput ? next.code : ''), `${file}:${line}`)
    }
  } finally {
    await shell.end()
  }
}
