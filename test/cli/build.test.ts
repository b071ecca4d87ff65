import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { isOlder, readRecord } from '../../src/cli/build/build-record.ts'
import { replaceOutput } from '../../src/cli/build/replace-output.ts'
import { freePort } from '../support/free-port.ts'
import { createProject, linkPackages, type TestProject } from './project.ts'

const FILES = {
  'routes/index.get.ts': `import { greeting } from './_words.ts'\nexport default () => ({ greeting })\n`,
  'routes/_words.ts': `export const greeting: string = 'hello'\n`,
  "routes/it's/[id].get.ts": `import type { Context } from 'mortar'\nexport default (ctx: Context) => ctx.params\n`,
  '.env.production': 'OF_MODE=wrapped\nFRAMEWORK_STATE=kept\n',
  'routes/_middleware.ts': `import type { Context, Next } from 'mortar'
export default async (ctx: Context, next: Next) => {
  ctx.set('X-Wrapped', \`\${process.env['NODE_ENV']} \${process.env['OF_MODE']}\`)
  return next()
}
`,
}

const MANIFEST = {
  name: 'shop',
  version: '1.0.0',
  type: 'module',
  dependencies: { yup: '1.7.1', packed: 'file:vendor/packed-1.0.0.tgz', same: 'file:other/packed-1.0.0.tgz' },
  devDependencies: { native: '3.0.0', tool: '2.0.0' },
  allowScripts: { argon2: true, native: true },
}

/** A lockfile of npm: `shared` is needed twice, in two versions, and `argon2` has an install script. */
const LOCK = {
  name: 'shop',
  version: '1.0.0',
  lockfileVersion: 3,
  requires: true,
  packages: {
    '': { name: 'shop', version: '1.0.0', dependencies: MANIFEST.dependencies },
    // Development and an optional package need it too.
    'node_modules/argon2': { version: '0.45.1', devOptional: true, hasInstallScript: true },
    'node_modules/native': { version: '3.0.0', dev: true, hasInstallScript: true },
    'node_modules/packed': {
      version: '1.0.0',
      resolved: 'file:vendor/packed-1.0.0.tgz',
      dependencies: { argon2: '*', shared: '^1.0.0' },
      peerDependencies: { tool: '*' },
      peerDependenciesMeta: { tool: { optional: true } },
    },
    'node_modules/packed/node_modules/shared': { version: '1.0.0' },
    'node_modules/same': { version: '1.0.0', resolved: 'file:other/packed-1.0.0.tgz' },
    'node_modules/shared': { version: '2.0.0', dev: true },
    'node_modules/tool': { version: '2.0.0', devOptional: true, dependencies: { shared: '^2.0.0' } },
    'node_modules/yup': { version: '1.7.1' },
  },
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
  let project: TestProject
  let out: string
  before(() => {
    project = createProject({
      ...FILES,
      'package.json': JSON.stringify(MANIFEST),
      // Some editors of Windows begin a file with a byte order mark, which npm accepts.
      'package-lock.json': `\ufeff${JSON.stringify(LOCK)}`,
      'vendor/packed-1.0.0.tgz': 'packed',
      'other/packed-1.0.0.tgz': 'same name',
    })
    out = join(project.directory, 'dist')
  })
  after(() => project.remove())

  async function answers(directory: string, more: Readonly<Record<string, string>> = {}) {
    const port = await freePort()
    const serving = project.serve(['start'], { directory, variables: { PORT: String(port), ...more } })
    try {
      await serving.output.until(/listens at/)
      const response = await fetch(`http://127.0.0.1:${port}/`)
      const other = await fetch(`http://127.0.0.1:${port}/it's/7`)
      const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
      return {
        version: ((await ready.json()) as { readonly version?: string }).version,
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
    const { version, ...responses } = await answers(project.directory)
    expect(responses).to.deep.equal({
      root: { greeting: 'hello' },
      id: { id: '7' },
      wrapped: 'production wrapped',
    })
    expect(version).to.match(/^1\.0\.0\+[0-9a-f]{8}$/)
  })

  it('read an empty variable as a variable that is not set', async () => {
    const variables = { NODE_ENV: '', FRAMEWORK_VERSION: '' }
    const { version, wrapped } = await answers(project.directory, variables)
    expect(wrapped).to.equal('production wrapped')
    expect(version).to.match(/^1\.0\.0\+/)
    for (const to of ['on', 'off']) {
      expect(project.mortar(['maintenance', to], { variables }).code).to.equal(0)
      expect(readdirSync(join(project.directory, 'kept')).length, to).to.equal(to === 'on' ? 1 : 0)
    }
  })

  it('write what `npm ci --omit=dev` needs: packages of production in their places, and packed files', () => {
    const [manifest, lock] = ['package.json', 'package-lock.json'].map(
      (name) => JSON.parse(readFileSync(join(out, name), 'utf8')) as Record<string, object>,
    )
    const dependencies = {
      yup: '1.7.1',
      packed: 'file:packages/packed-1.0.0.tgz',
      same: 'file:packages/1/packed-1.0.0.tgz',
    }
    expect(manifest).to.deep.include({ dependencies, allowScripts: { argon2: true } })
    expect(manifest).not.to.have.property('devDependencies')
    expect(Object.keys(lock!['packages']!)).to.deep.equal([
      '',
      'node_modules/argon2',
      'node_modules/packed',
      'node_modules/packed/node_modules/shared',
      'node_modules/same',
      'node_modules/yup',
    ])
    const packages = lock!['packages'] as Record<string, Record<string, unknown>>
    expect(packages['node_modules/argon2']).to.deep.equal({ version: '0.45.1', hasInstallScript: true })
    expect(packages['']!['dependencies']).to.deep.equal(dependencies)
    expect(packages['node_modules/packed']!['resolved']).to.equal('file:packages/packed-1.0.0.tgz')
    expect(readFileSync(join(out, 'packages/packed-1.0.0.tgz'), 'utf8')).to.equal('packed')
    expect(packages['node_modules/same']!['resolved']).to.equal('file:packages/1/packed-1.0.0.tgz')
    expect(readFileSync(join(out, 'packages/1/packed-1.0.0.tgz'), 'utf8')).to.equal('same name')
  })

  it('refuse a lockfile that is not JSON, with the file and the remedy', () => {
    const [conflict, broken] = [
      '{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> other\n}\n',
      '{ "lockfileVersion": 3,',
    ].map((text) => {
      project.write({ 'package-lock.json': text })
      return project.mortar(['build'])
    })
    project.write({ 'package-lock.json': JSON.stringify(LOCK) })
    const file = join(project.directory, 'package-lock.json')
    expect([conflict!.code, conflict!.err]).to.deep.equal([
      1,
      `mortar: ${file} has the markers of a merge conflict.\n  Remedy: Run npm install --package-lock-only, which merges both sides, and build again. [MORTAR_BUILD_LOCKFILE]\n`,
    ])
    expect(broken!.code).to.equal(1)
    expect(broken!.err).to.include(`${file} is not valid JSON`).and.to.include('[MORTAR_BUILD_LOCKFILE]')
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
      const answered = await answers(elsewhere, { FRAMEWORK_VERSION: 'commit-7' })
      expect(answered).to.deep.include({ root: { greeting: 'hello' }, version: 'commit-7' })
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

  it('accept an output to which a file was added, such as a compiled instrumentation.ts', async () => {
    const added = join(out, 'instrumentation.js')
    writeFileSync(added, 'process.exitCode = 0\n')
    try {
      expect(await answers(project.directory)).to.deep.include({ root: { greeting: 'hello' } })
    } finally {
      rmSync(added)
    }
  })

  it('report that there is no build, or that it has no manifest', () => {
    const missing = project.mortar(['start', '--out', 'nowhere'])
    expect([missing.code, missing.err.includes('MORTAR_BUILD_MISSING')]).to.deep.equal([1, true])
    expect(missing.err).to.include('its folder .framework is missing')
    const copy = join(project.directory, 'dist-without')
    cpSync(out, copy, { recursive: true })
    rmSync(join(copy, '.framework/routes.js'))
    const without = project.mortar(['start', '--out', 'dist-without'])
    rmSync(join(copy, 'server.js'))
    cpSync(join(out, '.framework'), join(copy, '.framework'), { recursive: true })
    const incomplete = project.mortar(['start', '--out', 'dist-without', '--stale'])
    rmSync(copy, { recursive: true })
    expect(incomplete.err).to.match(
      /The build in .*dist-without has no server\.js\..*\n.*MORTAR_BUILD_MISSING/,
    )
    expect([without.code, without.err.includes('MORTAR_MANIFEST_MISSING')]).to.deep.equal([1, true])
  })

  it('are not missing or older to a user who may not read the build or its sources', async () => {
    const record = readRecord(out)!
    const files = [join(out, '.framework'), join(project.directory, 'routes/_words.ts')]
    for (const file of files) chmodSync(file, 0)
    const isRoot = process.getuid?.() === 0
    if (isRoot) {
      chmodSync(project.directory, 0o755)
      process.seteuid!(65534)
    }
    try {
      expect(() => readRecord(out)).to.throw('EACCES')
      expect(await isOlder(record, project.directory).catch(String)).to.include('EACCES')
    } finally {
      if (isRoot) process.seteuid!(0)
      for (const file of files) chmodSync(file, 0o755)
    }
  })

  it('stop at a type error, and leave the previous build unchanged', () => {
    const before = contentsOf(out)
    project.write({
      'routes/wrong.get.ts': 'const n: number = "text"\nexport default () => n\n',
      'routes/table.get.ts': `export const response = { 200: { type: 'text/csv' } }\nexport default () => 7\n`,
    })
    const ran = project.mortar(['build'])
    for (const name of ['wrong', 'table']) rmSync(join(project.directory, `routes/${name}.get.ts`))
    expect(ran.code).to.equal(1)
    expect(ran.err).to.include('routes/wrong.get.ts').and.include('TS2322')
    // The manifest compares what a handler returns with the exports beside it.
    expect(ran.err).to.match(/routes\/table\.get.*does not satisfy/)
    expect(ran.err).to.include("Type 'number' is not assignable to type 'string | Unchanged'")
    expect(contentsOf(out)).to.deep.equal(before)
  })

  it('keep the previous build whole until the next one has its place', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mortar-replace-'))
    const [fresh, dist, previous] = ['fresh', 'dist', 'dist.replaced'].map((name) => join(folder, name))
    for (const path of [fresh!, dist!, previous!]) mkdirSync(path)
    writeFileSync(join(fresh!, 'app.js'), '')
    // `previous` is there as after a build that was stopped in the last moment.
    for (let count = 0; count < 1000; count++)
      for (const path of [dist!, previous!]) writeFileSync(join(path, `${count}.js`), '')
    const seen = new Set<number>()
    const look = (): void => {
      try {
        seen.add(readdirSync(dist!).length)
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).to.equal('ENOENT')
      }
    }
    look()
    const looking = setInterval(look, 1)
    await replaceOutput(fresh!, dist!).finally(() => clearInterval(looking))
    look()
    expect([...seen]).to.deep.equal([1000, 1])
    expect(readdirSync(folder, { recursive: true })).to.have.members(['dist', 'dist/app.js'])
    rmSync(folder, { recursive: true })
  })

  it('never replace a folder that a build did not make', () => {
    project.write({ 'precious/notes.txt': 'mine' })
    const ran = project.mortar(['build', '--out', 'precious'])
    expect([ran.code, ran.err.includes('MORTAR_BUILD_OUTPUT')]).to.deep.equal([1, true])
    // Only a folder that is not the project itself may be deleted.
    expect(ran.err).to.include('Remedy: Delete it, or name another folder')
    for (const folder of ['/', '.', '..']) {
      const { code, err } = project.mortar(['build', '--out', folder])
      expect([code, err.includes('Remedy: Name another folder')]).to.deep.equal([1, true])
    }
    expect(readFileSync(join(project.directory, 'precious/notes.txt'), 'utf8')).to.equal('mine')
  })
})
