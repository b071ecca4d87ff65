import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { freePort } from '../support/free-port.ts'
import { createProject, linkPackages, type TestProject } from './project.ts'

const FILES = {
  'routes/index.get.ts': `import { greeting } from './_words.ts'\nexport default () => ({ greeting })\n`,
  'routes/_words.ts': `export const greeting: string = 'hello'\n`,
  "routes/it's/[id].get.ts": `import type { Context } from 'mortar'\nexport default (ctx: Context) => ctx.params\n`,
  'routes/_middleware.ts': `import type { Context, Next } from 'mortar'
export default async (ctx: Context, next: Next) => {
  ctx.set('X-Wrapped', 'yes')
  return next()
}
`,
}

/** Path → content of every file of a folder. */
function contentsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return Object.fromEntries(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path.slice(folder.length), readFileSync(path, 'utf8')]
    }),
  )
}

describe('mortar build and mortar start', function () {
  this.timeout(120_000)
  let project: TestProject
  let out: string
  before(() => {
    project = createProject(FILES)
    out = join(project.directory, 'dist')
  })
  after(() => project.remove())

  async function answers(directory: string): Promise<{ root: unknown; id: unknown; wrapped: string | null }> {
    const port = await freePort()
    const serving = project.serve(['start'], { directory, variables: { PORT: String(port) } })
    try {
      await serving.output.until(/listens at/)
      const response = await fetch(`http://127.0.0.1:${port}/`)
      const other = await fetch(`http://127.0.0.1:${port}/it's/7`)
      return {
        root: await response.json(),
        id: await other.json(),
        wrapped: response.headers.get('x-wrapped'),
      }
    } finally {
      expect(await serving.stop(), serving.output.text()).to.equal(0)
    }
  }

  it('compile the application into files that run in plain Node', async () => {
    const ran = project.mortar(['build'])
    expect(ran.code, ran.err).to.equal(0)
    expect(await answers(project.directory)).to.deep.equal({
      root: { greeting: 'hello' },
      id: { id: '7' },
      wrapped: 'yes',
    })
  })

  it('make the same files of the same sources, byte for byte', () => {
    const first = contentsOf(out)
    expect(project.mortar(['build']).code).to.equal(0)
    expect(contentsOf(out)).to.deep.equal(first)
    expect(JSON.stringify(first)).not.to.include(project.directory)
  })

  it('need no sources: a copy of the build runs in another folder', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'mortar-copy-'))
    cpSync(out, elsewhere, { recursive: true })
    linkPackages(elsewhere)
    renameSync(join(project.directory, 'routes'), join(project.directory, 'gone'))
    try {
      expect(await answers(elsewhere)).to.deep.include({ root: { greeting: 'hello' } })
    } finally {
      renameSync(join(project.directory, 'gone'), join(project.directory, 'routes'))
      rmSync(elsewhere, { recursive: true })
    }
  })

  it('refuse a build whose manifest lacks a route, and one that is older than its sources', () => {
    const added = join(project.directory, 'routes/new.get.ts')
    writeFileSync(added, 'export default () => 1\n')
    const lacking = project.mortar(['start'])
    rmSync(added)
    expect([lacking.code, lacking.err]).to.satisfy(
      ([code, err]: [number, string]) => code === 1 && /lacks new\.get.*\n.*MORTAR_MANIFEST_STALE/.test(err),
    )
    const words = FILES['routes/_words.ts']
    project.write({ 'routes/_words.ts': words.replace('hello', 'salve') })
    const old = project.mortar(['start'])
    project.write({ 'routes/_words.ts': words })
    expect(old.code).to.equal(1)
    expect(old.err).to.include('MORTAR_BUILD_STALE')
  })

  it('report that there is no build, or that it has no manifest', () => {
    const missing = project.mortar(['start', '--out', 'nowhere'])
    expect([missing.code, missing.err.includes('MORTAR_BUILD_MISSING')]).to.deep.equal([1, true])
    const copy = join(project.directory, 'dist-without')
    cpSync(out, copy, { recursive: true })
    rmSync(join(copy, '.framework/routes.js'))
    const without = project.mortar(['start', '--out', 'dist-without'])
    rmSync(copy, { recursive: true })
    expect([without.code, without.err.includes('MORTAR_MANIFEST_MISSING')]).to.deep.equal([1, true])
  })

  it('stop at a type error, and leave the previous build unchanged', () => {
    const before = contentsOf(out)
    project.write({ 'routes/wrong.get.ts': 'const n: number = "text"\nexport default () => n\n' })
    const ran = project.mortar(['build'])
    rmSync(join(project.directory, 'routes/wrong.get.ts'))
    expect(ran.code).to.equal(1)
    expect(ran.err).to.include('routes/wrong.get.ts').and.include('TS2322')
    expect(contentsOf(out)).to.deep.equal(before)
  })

  it('never replace a folder that a build did not make', () => {
    project.write({ 'precious/notes.txt': 'mine' })
    const ran = project.mortar(['build', '--out', 'precious'])
    expect([ran.code, ran.err.includes('MORTAR_BUILD_OUTPUT')]).to.deep.equal([1, true])
    expect(readFileSync(join(project.directory, 'precious/notes.txt'), 'utf8')).to.equal('mine')
  })
})
