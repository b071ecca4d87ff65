import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { createApp, loadRoutes, scoped } from 'mortar'
import { createClient } from 'mortar/testing'
import { config } from '../../examples/notes/config/index.ts'
import { NoteService } from '../../examples/notes/note-service.ts'
import { ROOT } from '../architecture/tree.ts'
import { skipSuite } from '../support/servers.ts'
import { createTracker } from './tracker.ts'

const GENERATORS = join(ROOT, 'test/fixtures/client-generators')

/** The compiler options of a strict front-end project with a bundler. */
const SETTINGS = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2023', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
    module: 'ESNext',
    moduleResolution: 'Bundler',
    strict: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
    types: [],
  },
  include: ['.'],
}

type Call = (baseUrl: string) => Promise<Readonly<Record<string, unknown>>>

describe('Clients that generators make of the OpenAPI document', function () {
  if (!existsSync(join(GENERATORS, 'node_modules')))
    skipSuite('npm ci --prefix test/fixtures/client-generators installs the generators')
  let directory: string
  let urls: Readonly<Record<string, string>>
  // The same as examples/notes/app.ts, which another test of this process may have closed.
  const notes = createApp(config).provide({ notes: scoped(({ db, user }) => new NoteService(db, user)) })
  const tracker = createTracker()

  before(async () => {
    mkdirSync(join(ROOT, 'data'), { recursive: true })
    directory = mkdtempSync(join(ROOT, 'data/clients-'))
    symlinkSync(join(GENERATORS, 'node_modules'), join(directory, 'node_modules'))
    cpSync(join(GENERATORS, 'calls'), directory, { recursive: true })
    await loadRoutes(notes, join(ROOT, 'examples/notes/routes'))
    urls = { notes: (await notes.listen(0)).url, tracker: (await tracker.listen(0)).url }
    for (const [name, app] of Object.entries({ notes, tracker })) {
      const { body } = await createClient(app).get('/openapi.json')
      writeFileSync(join(directory, `${name}.json`), JSON.stringify(body))
    }
    await promisify(execFile)(process.execPath, [join(GENERATORS, 'generate.mjs'), directory])
  })

  after(async () => {
    await notes.close()
    await tracker.close()
    rmSync(directory, { recursive: true, force: true })
  })

  it('compile in a strict project, with calls that use the names of the components', async () => {
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(SETTINGS))
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', directory]).catch(
      (error: { stdout: string }) => error,
    )
    expect(stdout).to.equal('')
  })

  for (const generator of ['openapi-fetch', 'hey-api']) {
    const calls = (name: string) =>
      import(pathToFileURL(join(directory, `call-${name}-with-${generator}.ts`)).href) as Promise<
        Record<string, Call>
      >

    it(`call the reference application (${generator})`, async () => {
      const { callNotes } = await calls('notes')
      expect(await callNotes!(urls['notes']!)).to.deep.equal({
        archived: true,
        titles: ['Milk'],
        total: 1,
        removed: [204, undefined],
        missing: [404, 'not_found'],
        faults: ['title'],
      })
    })

    it(`call routes with lists, files, bytes, text and events (${generator})`, async () => {
      const { callTracker } = await calls('tracker')
      expect(await callTracker!(urls['tracker']!)).to.deep.equal({
        asked: ['open', 'closed'],
        issue: ['open', null],
        made: ['new'],
        text: 'id;title',
        bytes: 4,
        size: 3,
        tree: 'leaf',
        events: true,
      })
    })
  }
})
