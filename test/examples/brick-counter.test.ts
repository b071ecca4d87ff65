import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { createApp, PROBLEM_CODES, type AnyBrick, type Brick } from 'mortar'
import { createClient } from 'mortar/testing'
import { tableRows } from '../architecture/markdown.ts'
import { ROOT, listFiles } from '../architecture/tree.ts'
import { createProject, type TestProject } from '../cli/project.ts'
import { installDependencies, packFramework, type PackedFramework } from '../cli/scaffold.ts'
import { readBlocks } from '../docs/read-blocks.ts'
import { skipSuite } from '../support/servers.ts'
import { startupErrorOf } from '../support/startup-error-of.ts'

const EXAMPLE = 'examples/brick-counter'
const TOOLS = [
  '@types/mocha',
  '@types/node',
  'light-my-request',
  'mocha',
  'tough-cookie',
  'tsx',
  'typescript',
]
const run = promisify(execFile)

interface CounterModule {
  counter(options?: { readonly limit?: number }): Brick<'counter', { counter: { value: number } }>
}

/** The example in a folder of its own, with the framework and the tools of its package.json linked. */
function copyExample(framework: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'mortar-counter-'))
  for (const path of listFiles(EXAMPLE)) cpSync(join(ROOT, path), join(directory, path.slice(EXAMPLE.length)))
  const links = [['mortar', framework], ...TOOLS.map((name) => [name, join(ROOT, 'node_modules', name)])]
  for (const [name, source] of links as [string, string][]) {
    mkdirSync(dirname(join(directory, 'node_modules', name)), { recursive: true })
    symlinkSync(source, join(directory, 'node_modules', name))
  }
  return directory
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T
}

describe('The brick in a package of its own', function () {
  let directory: string
  let brick: AnyBrick
  let make: CounterModule['counter']
  before(async () => {
    directory = copyExample(join(ROOT, 'src'))
    const module = (await import(pathToFileURL(join(directory, 'src/index.ts')).href)) as CounterModule
    make = module.counter
    brick = make()
  })
  after(() => rmSync(directory, { recursive: true, force: true }))

  it('names every tool that its tests need', () => {
    const { devDependencies } = readJson<{ devDependencies: object }>(join(directory, 'package.json'))
    expect(Object.keys(devDependencies)).to.have.members([...TOOLS, 'mortar'])
  })

  it('accepts the current version of the framework', () => {
    const { peerDependencies } = readJson<{ peerDependencies: { mortar: string } }>(
      join(directory, 'package.json'),
    )
    const { version } = readJson<{ version: string }>(join(ROOT, 'src/package.json'))
    expect(peerDependencies.mortar).to.equal(`^${version}`)
  })

  it('passes its own tests', async () => {
    const mocha = join(ROOT, 'node_modules/mocha/bin/mocha.js')
    // Mocha's two seconds are too few for a machine that runs other tests too.
    const args = [mocha, '--node-option', 'conditions=source', '--reporter', 'dot', '--timeout', '60000']
    const { stdout } = await run(process.execPath, args, { cwd: directory })
    expect(stdout)
      .to.match(/[1-9]\d* passing/)
      .and.not.to.match(/failing|pending/)
  })

  it('has the codes of its slots in its README', () => {
    const rows = tableRows(readFileSync(join(directory, 'README.md'), 'utf8'))
    const codes = rows.map((row) => row.map((cell) => cell.replaceAll(/^`|`$/g, '')))
    for (const [code, { status, title }] of Object.entries(brick.problems ?? {}))
      expect(codes.map((row) => row.slice(0, 3))).to.deep.include([code, String(status), title])
    for (const [code, { cause, remedy }] of Object.entries(brick.startupCodes ?? {}))
      expect(rows).to.deep.include([`\`${code}\``, cause, remedy])
    const listed = codes.map(([first]) => first!).filter((first) => /^COUNTER_|^counter_/.test(first))
    expect(listed).to.have.members([...Object.keys(brick.problems!), ...Object.keys(brick.startupCodes!)])
  })

  it('has its problem codes in the OpenAPI document', async () => {
    const { body } = await createClient(createApp({ logger: false }).use(brick)).get('/openapi.json')
    const { examples } = body.components.schemas.Problem.properties.code
    expect(examples).to.have.members([...Object.keys(PROBLEM_CODES), 'counter_full'])
    expect(body.paths['/counter']).to.have.keys('get', 'post')
  })

  it('throws its start-up error with its remedy and page', async () => {
    const error = await startupErrorOf(() => make({ limit: 0 }))
    const { remedy } = brick.startupCodes!['COUNTER_LIMIT']!
    expect(error).to.include({ code: 'COUNTER_LIMIT', remedy, brick: 'counter' })
    expect(error.page).to.match(/^https:\/\/.+#codes$/)
  })

  it('has the brick that the tutorial shows', () => {
    const shown = readBlocks('docs/bricks.md').flatMap(({ code }) => {
      const [first, ...lines] = code.split('\n')
      const path = /^\/\/ counter\/(.+)$/.exec(first!)?.[1]
      return path === undefined ? [] : [{ path, code: lines.join('\n') }]
    })
    for (const { path, code } of shown)
      expect(code, path).to.equal(readFileSync(join(ROOT, EXAMPLE, path), 'utf8'))
    expect(shown.map(({ path }) => path)).to.deep.equal(['src/brick.ts'])
  })

  it('has the recipe that the tutorial shows', () => {
    const { mortar } = readJson<{ mortar: object }>(join(directory, 'package.json'))
    const recipes = readBlocks('docs/bricks.md').filter(({ code }) => /^\{\s*"mortar"/.test(code))
    expect(recipes.map(({ code }) => JSON.parse(code) as unknown)).to.deep.equal([{ mortar }])
  })
})

const APP = {
  'app.ts': `import { createApp, env } from 'mortar'
import { counter } from 'mortar-brick-counter'

export const app = createApp({ logger: false, appUrl: 'https://example.com' }).use(
  counter({ limit: env.integer('COUNTER_LIMIT', { default: 100 }) }),
)
`,
  'routes/index.get.ts': `import { routesFor } from 'mortar'
import type { app } from '../app.ts'

export default routesFor<typeof app>()({}, (ctx) => ({ value: ctx.counter.increment() }))
`,
  'print.ts': `import { loadRoutes } from 'mortar'
import { app } from './app.ts'

await loadRoutes(app, new URL('routes', import.meta.url).pathname)
const responses = [await app.inject('/'), await app.inject('/'), await app.inject('/')]
process.stdout.write(JSON.stringify(responses.map(({ statusCode, payload }) => [statusCode, JSON.parse(payload)])))
await app.close()
`,
}

describe('The brick, packed and installed beside the packed framework', function () {
  if (!process.env['TEST_SCAFFOLD']) skipSuite('TEST_SCAFFOLD is not set')
  this.timeout(300_000)
  let framework: PackedFramework
  let built: string
  let project: TestProject
  let tarball: string

  before(async () => {
    framework = await packFramework()
    built = copyExample(join(framework.directory, 'mortar'))
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    await run(process.execPath, [tsc, '--noEmit'], { cwd: built })
    await run(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: built })
    const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts'], { cwd: built })
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
    tarball = join(built, filename)
    project = createProject(
      {
        ...APP,
        'package.json': JSON.stringify({
          name: 'visits',
          version: '1.0.0',
          private: true,
          type: 'module',
          dependencies: {
            mortar: `file:${join(framework.tarballs, 'mortar-0.1.0.tgz')}`,
            'mortar-brick-counter': `file:${tarball}`,
            yup: '1.7.1',
          },
          devDependencies: {
            '@types/node': '20.19.43',
            'light-my-request': '6.6.0',
            tsx: '4.23.15',
            typescript: '7.0.2',
          },
        }),
      },
      framework.directory,
    )
    rmSync(join(project.directory, 'node_modules'), { recursive: true })
    await installDependencies(project.directory)
  })
  after(() => {
    project?.remove()
    framework?.remove()
    rmSync(built, { recursive: true, force: true })
  })

  const node = (args: readonly string[], limit: string) =>
    run(process.execPath, args, {
      cwd: project.directory,
      env: { PATH: process.env['PATH'], COUNTER_LIMIT: limit, NODE_ENV: 'production' },
    })

  it('contains only its build and its README', async () => {
    const { stdout } = await run('tar', ['-tzf', tarball])
    const top = stdout
      .trim()
      .split('\n')
      .map((path) => path.split('/')[1])
    expect([...new Set(top)]).to.have.members(['dist', 'package.json', 'README.md'])
  })

  it('is installed beside one copy of the framework', async () => {
    const { stdout } = await run('npm', ['ls', 'mortar', '--all', '--parseable'], {
      cwd: project.directory,
    })
    expect(
      stdout
        .trim()
        .split('\n')
        .filter((line) => line.endsWith('/mortar')),
    ).to.have.length(1)
  })

  it('types ctx in an application', async () => {
    await run(process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit'], { cwd: project.directory })
  })

  it('serves, and sends its problem', async () => {
    const { stdout } = await node(['--import', 'tsx', 'print.ts'], '2')
    const [first, second, [status, problem]] = JSON.parse(stdout) as readonly [
      unknown,
      unknown,
      [number, object],
    ]
    expect([first, second]).to.deep.equal([
      [200, { value: 1 }],
      [200, { value: 2 }],
    ])
    expect(status).to.equal(409)
    expect(problem).to.include({
      code: 'counter_full',
      type: 'urn:mortar:problem:counter_full',
      title: 'Counter full',
    })
  })

  for (const [limit, code] of [
    ['0', 'COUNTER_LIMIT'],
    ['3', 'COUNTER_LOW_LIMIT'],
  ] as const)
    it(`is checked by mortar doctor, which reports ${code} with its page`, async () => {
      const ran = node(['node_modules/mortar/dist/cli/main.js', 'doctor', '--json'], limit)
      const { stdout } = await ran.catch((error: { stdout: string }) => error)
      const { findings } = JSON.parse(stdout) as { findings: { code: string; page: string }[] }
      expect(findings.find((found) => found.code === code)?.page).to.match(/^https:\/\/.+#codes$/)
    })
})
