import { spawn, spawnSync } from 'node:child_process'
import { on, once } from 'node:events'
import { join } from 'node:path'
import { expect } from 'chai'

const ROOT = join(import.meta.dirname, '../..')
const FIXTURES = join(ROOT, 'test/fixtures/start')
/** Packages that only the test loads, to run TypeScript. */
const LOADERS = new Set(['tsx', 'esbuild', 'get-tsconfig', 'resolve-pkg-maps'])

const ARGS = ['--import', join(FIXTURES, 'print-modules.mjs'), '--import', 'tsx', '--conditions=source']

const run = (fixture: string) =>
  spawnSync(process.execPath, [...ARGS, join(FIXTURES, fixture)], { cwd: ROOT, encoding: 'utf8' })

/**
 * Each of these costs milliseconds and memory in every process, so an application pays for what it uses. What the
 * figures are says `npm run bench:start`.
 */
describe('An application of routes alone', () => {
  let loaded: { statuses: number[]; files: string[]; builtins: string[] }

  before(() => {
    const { stdout, stderr } = run('routes.ts')
    loaded = JSON.parse(stdout) as typeof loaded
    loaded.files.push(...stderr.split('\n').filter((line) => line.startsWith('file:')))
  })

  it('responds to a request', () => {
    expect(loaded.statuses).to.deep.equal([200, 200, 204])
  })

  it('loads no package but yup and awilix', () => {
    const packages = loaded.files.flatMap(
      (file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [],
    )
    const found = [...new Set(packages)].filter((name) => !LOADERS.has(name)).toSorted()
    expect(found).to.deep.equal(['awilix', 'property-expr', 'tiny-case', 'toposort', 'yup'])
  })

  it('loads no documentation, command or brick', () => {
    const own = loaded.files.flatMap((file) => /\/(src|plugins)\/[^?]*/.exec(file)?.[0] ?? [])
    expect(own).to.include('/src/app/application.ts')
    expect(own.filter((file) => /^\/(plugins|src\/(openapi|cli|testing))\//.test(file))).to.deep.equal([])
  })

  it('loads few of its own modules, each of which costs half a millisecond from the sources', () => {
    const own = new Set(loaded.files.flatMap((file) => /\/src\/[^?]*/.exec(file)?.[0] ?? []))
    expect(own.size).to.be.within(100, 279)
  })

  it("does not access Node's lazy globals, since fetch and Response load undici", () => {
    expect(loaded.builtins.filter((name) => name.includes('undici'))).to.deep.equal([])
  })
})

describe('An application with a route that reads forms', () => {
  it('has checked the folder of files before its first request, and loads no package for them', () => {
    const { status, stderr } = run('forms.ts')
    expect(status, stderr).to.equal(0)
    expect(stderr).to.contain('/src/pipeline/multipart/check-upload-folder.ts')
    expect(stderr).not.to.match(/node_modules\/(koa|koa-body|formidable)\//)
  })
})

describe('An application that has started', () => {
  it('loads the code of sendFile, sse and social sign-in before their first call, which may find no file descriptor', async () => {
    const child = spawn(process.execPath, [...ARGS, join(FIXTURES, 'idle.ts')], { cwd: ROOT })
    const lazy = [
      '/src/pipeline/send-file/respond-with-file.ts',
      '/src/pipeline/sse/start-events.ts',
      '/node_modules/openid-client/',
    ]
    let printed = ''
    for await (const [chunk] of on(child.stderr, 'data', { close: ['end'] })) {
      printed += String(chunk)
      if (lazy.every((file) => printed.includes(file))) break
    }
    child.stdin.end()
    await once(child, 'exit')
    for (const file of lazy) expect(printed).to.contain(file)
  })
})
