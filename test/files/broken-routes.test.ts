import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { shownPath } from '../../src/support/shown-path.ts'
import { type StartupError, StartupErrors } from '../../src/errors/startup-error.ts'
import { loadRoutes } from '../../src/files/load-routes.ts'
import { fixtureTrees } from './fixture-trees.ts'
import { failureOf } from './failure-of.ts'
import { createRecordingSink } from './recording-sink.ts'

interface Expected {
  readonly errors: readonly { readonly code: string; readonly files: string[]; readonly says: string }[]
}

const trees = fixtureTrees<Expected>('broken')

describe('a tree of routes with a broken convention', () => {
  for (const { name, expected, open } of trees)
    it(`reports exactly its own diagnostics: ${name}`, () =>
      open(async (directory) => {
        const sink = createRecordingSink()
        const error = await failureOf(loadRoutes(sink, directory))
        if (!(error instanceof StartupErrors)) throw error
        const folder = `${shownPath(directory)}/`
        expect(error.errors.map(identify)).to.have.members(expected.errors.map(identify))
        for (const { code, files, says } of expected.errors) {
          const match = error.errors.find(
            (one) =>
              one.code === code && one.files.join() === files.join() && inFolder(one, folder).includes(says),
          )
          expect(match, `${code} that says ${says} in\n${error.message}`).to.not.equal(undefined)
          for (const file of files.slice(0, 4))
            expect(match?.message).to.include(folder + file.split('/')[0]!)
        }
        expect(sink.batches).to.deep.equal([])
        expect(sink.warnings.join('\n')).to.not.include('There is no route file')
      }))

  it('has a tree for each code of route files', () => {
    const seen = new Set(trees.flatMap(({ expected }) => expected.errors.map(({ code }) => code)))
    const documented = readFileSync(join(import.meta.dirname, '../../docs/startup-errors.md'), 'utf8')
    const codes = [...documented.matchAll(/^\| `(MORTAR_ROUTE_(?!PATTERN_)[A-Z_]+)`/gm)].map(
      ([, code]) => code!,
    )
    expect(codes).to.have.length.above(30)
    const missing = codes.filter((code) => !seen.has(code) && !code.startsWith('MORTAR_ROUTE_DIRECTORY_'))
    expect(missing).to.deep.equal([])
  })
})

/** The message of an error without the folder, which the disk of a test decides. */
function inFolder({ message }: StartupError, folder: string): string {
  return message.replaceAll(folder, '')
}

function identify({ code, files }: { readonly code: string; readonly files: readonly string[] }): string {
  return `${code} ${files.join(', ')}`
}
