import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect } from 'chai'
import { transform } from 'esbuild'
import { ROOT } from '../architecture/tree.ts'
import { builtFramework } from '../support/built-framework.ts'
import { createProject, type TestProject } from '../cli/project.ts'
import { freePort } from '../support/free-port.ts'
import { skipSuite } from '../support/servers.ts'
import { absent, RUNTIMES, runScript, type RunningScript } from './runtimes.ts'

/** A package with a compiled part that every runtime can load. */
const LIBSQL = createRequire(import.meta.url).resolve('libsql')

for (const runtime of RUNTIMES.filter(({ name }) => name !== 'Node'))
  describe(`The command line on ${runtime.name}`, function () {
    if (runtime.program === undefined) skipSuite(absent(runtime))
    const compiled = { ...runtime, args: runtime.args.filter((arg) => !arg.startsWith('--conditions')) }
    let project: TestProject
    before(() => {
      project = createProject({
        'routes/index.get.ts': `export default () => 'first'\n`,
        'routes/native.get.ts': `import { createRequire } from 'node:module'
const Database: unknown = createRequire(import.meta.url)('${LIBSQL}')
export default () => typeof Database
`,
      })
    })
    after(() => project.remove())

    function start(args: readonly string[], variables: Readonly<Record<string, string>> = {}): RunningScript {
      // Deno looks for dependencies beside the package.json of the path that it is given.
      const program = join(project.directory, 'node_modules/mortar/dist/cli/main.js')
      return runScript(compiled, [program, ...args], { cwd: project.directory, variables })
    }

    async function run(...args: string[]): Promise<string> {
      const script = start(args)
      expect(await script.ended, script.output.text()).to.equal(0)
      return script.output.text()
    }

    it('makes an application', async () => {
      expect(await run('new', 'shop', '--no-install')).to.include('Created shop')
      expect(readFileSync(join(project.directory, 'shop/app.ts'), 'utf8')).to.include('createApp')
    })

    it('builds an application and serves what it built', async () => {
      const routes = await run('routes')
      expect(routes).to.include('routes/index.get.ts')
      expect(routes).to.include('routes/native.get.ts')
      expect(await run('build')).to.match(/Built \d+ routes/)
      const script = start(['start'], { PORT: String(await freePort()) })
      const url = await urlOf(script)
      expect(await (await fetch(url)).text()).to.equal('first')
      expect(await script.stop()).to.equal(0)
    })

    it('serves in development and follows a change', async () => {
      const script = start(['dev'], { PORT: String(await freePort()) })
      const url = await urlOf(script)
      await script.output.until(/watching for changes/)
      expect(await (await fetch(url)).text()).to.equal('first')
      project.write({ 'routes/index.get.ts': `export default () => 'second'\n` })
      await untilText(url, 'second')
      expect(await script.stop('SIGINT')).to.equal(0)
    })
  })

async function urlOf({ output }: RunningScript): Promise<string> {
  await output.until(/listens at \S+/)
  return /listens at (\S+)/.exec(output.text())![1]!
}

/** Asks until the response is this text; the time limit of the test ends it otherwise. */
async function untilText(url: string, expected: string): Promise<void> {
  const text = await fetch(url).then(
    (response) => response.text(),
    () => '',
  )
  if (text !== expected) await untilText(url, expected)
}

describe('The command line on an older Node', () => {
  it('names the version that it needs before it imports anything', () => {
    const old = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.18.3'}})`
    const program = join(builtFramework(), 'mortar/dist/cli/main.js')
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', old, program, 'routes'], {
      encoding: 'utf8',
    })
    expect([status, stdout]).to.deep.equal([1, ''])
    expect(stderr).to.equal('Mortar needs Node 20.19 or later. This is Node 20.18.3.\n')
    const library = ['--import', old, join(builtFramework(), 'mortar/dist/index.js')]
    const imported = spawnSync(process.execPath, library, { encoding: 'utf8' })
    expect(imported.status).to.equal(1)
    expect(imported.stderr).to.include('Error: Mortar needs Node 20.19 or later. This is Node 20.18.3.')
  })

  it('is reached by a program that Node 12 can read', async () => {
    const source = readFileSync(join(ROOT, 'src/cli/main.ts'), 'utf8')
    const options = { loader: 'ts', format: 'esm' } as const
    const { code } = await transform(source, options)
    const older = await transform(source, { ...options, target: ['es2015', 'node12.20'] })
    expect(older.code).to.equal(code)
  })
})
