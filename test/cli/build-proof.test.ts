import { expect } from 'chai'
import { mkdirSync, readFileSync, rmSync, symlinkSync, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Ran } from './command-host.ts'
import { createProject, type Files, type TestProject } from './project.ts'

const MANIFEST = { name: 'shop', version: '1.0.0', type: 'module', dependencies: { yup: '1.7.1' } }

/** package.json of a project with further keys. */
function manifest(further: object): Files {
  return { 'package.json': JSON.stringify({ ...MANIFEST, ...further }) }
}

describe('the proof of a build', function () {
  const projects: TestProject[] = []
  after(() => {
    for (const project of projects) project.remove()
  })

  function build(files: Files, prepare: (project: TestProject) => void = () => undefined) {
    const project = createProject(files)
    projects.push(project)
    prepare(project)
    const ran = project.mortar(['build'])
    return { project, ran }
  }

  /** Puts a package beside the project and links it, as the package managers do in a workspace. */
  function link(project: TestProject, name: string, files: Files, importer = project.directory): void {
    const folder = join(project.directory, 'workspace', name)
    for (const [path, content] of Object.entries(files))
      project.write({ [`workspace/${name}/${path}`]: content })
    const place = join(importer, 'node_modules', name)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(folder, place)
  }

  function outputManifest(project: TestProject): Record<string, Record<string, string>> {
    return JSON.parse(readFileSync(join(project.directory, 'dist/package.json'), 'utf8')) as never
  }

  function expectRefused({ ran, project }: { ran: Ran; project: TestProject }, ...words: RegExp[]): void {
    expect(ran.code, ran.err).to.equal(1)
    for (const each of words) expect(ran.err).to.match(each)
    expect(ran.err).not.to.include('dist.new')
    expect(existsSync(join(project.directory, 'dist'))).to.equal(false)
    expect(existsSync(join(project.directory, 'dist.new'))).to.equal(false)
  }

  it('covers more files than the arguments of a program can name', () => {
    const files = Array.from({ length: 600 }, (_, at) => [`jobs/${'a'.repeat(200)}${at}.ts`, 'export {}\n'])
    const { ran } = build({
      'routes/index.get.ts': 'export default () => 1\n',
      ...(Object.fromEntries(files) as Files),
    })
    expect(ran.code, ran.err).to.equal(0)
  })

  it('rewrites subpath imports to the compiled files: patterns, exact names, conditions and lists', () => {
    const { ran, project } = build({
      ...manifest({
        imports: {
          '#lib/*': './lib/*.ts',
          '#exact': './lib/exact.ts',
          '#either': { source: './lib/never.ts', default: ['./lib/either.ts'] },
          '#built': { development: './dist/lib/never.js', default: './dist/lib/built.js' },
          '#yup': 'yup',
          '#none': null,
        },
      }),
      'lib/pattern.ts': `export const pattern = 'pattern'\n`,
      'lib/exact.ts': `export const exact = 'exact'\n`,
      'lib/either.ts': `export const either = 'either'\n`,
      'routes/index.get.ts': `import { pattern } from '#lib/pattern'
import { exact } from '#exact'
import { either } from '#either'
import { string } from '#yup'

export default () => [pattern, exact, either, string().type]
`,
    })
    expect(ran.code, ran.err).to.equal(0)
    expect(outputManifest(project)['imports']).to.deep.equal({
      '#lib/*': './lib/*.js',
      '#exact': './lib/exact.js',
      '#either': { source: './lib/never.js', default: ['./lib/either.js'] },
      '#built': { development: './lib/never.js', default: './lib/built.js' },
      '#yup': 'yup',
      '#none': null,
    })
  })

  it('explains a subpath import with the extension .ts, which the compiler refuses', () => {
    expectRefused(
      build({
        ...manifest({ imports: { '#lib/*': './lib/*' } }),
        'lib/name.ts': `export const name = 1\n`,
        'routes/index.get.ts': `import { name } from '#lib/name.ts'\nexport default () => name\n`,
      }),
      /TS2877/,
      /"#lib\/\*": "\.\/lib\/\*\.ts"/,
    )
  })

  it('names every file that plain Node cannot run, with the package and the remedy', () => {
    const shared = (name: string): Files => ({
      'package.json': JSON.stringify({ name, type: 'module', exports: './index.ts' }),
      'index.ts': `export const hello: string = 'hello'\n`,
    })
    expectRefused(
      build(
        {
          ...manifest({ dependencies: { '@ws/shared': 'workspace:*', '@ws/late': 'workspace:*' } }),
          'lib/words.ts': `export { hello } from '@ws/shared'\n`,
          'routes/a.get.ts': `import { hello } from '../lib/words.ts'\nexport default () => hello\n`,
          'routes/late.get.ts': `export default async () => (await import('@ws/late')).hello\n`,
          'lib/old.js': `export const old = 1\n`,
          'lib/old.d.ts': `export declare const old: number\n`,
          'routes/old.get.ts': `export default async () => (await import('../lib/old.js')).old\n`,
          'server.ts': `import { gone } from './gone.js'\nthrow new Error('server.ts was run' + gone)\n`,
          'gone.js': `export const gone = ''\n`,
          'gone.d.ts': `export declare const gone: string\n`,
        },
        (project) => {
          for (const name of ['@ws/shared', '@ws/late']) link(project, name, shared(name))
        },
      ),
      /- lib\/words\.ts imports the package @ws\/shared, whose files are TypeScript \(.+index\.ts\)/,
      /Remedy: Compile @ws\/shared to JavaScript.*\[MORTAR_BUILD_PROOF\]/,
      /- routes\/late\.get\.ts imports the package @ws\/late/,
      /- routes\/old\.get\.ts imports lib\/old\.js, which is not in the output/,
      /- server\.ts imports gone\.js, which is not in the output.*\n.*"allowJs": true/,
    )
  })

  it('copies the compiled packages of a workspace, without secrets, so that npm can install the output', () => {
    const { ran, project } = build(
      {
        ...manifest({
          dependencies: { yup: 'catalog:', '@ws/shared': 'workspace:^', plain: '*' },
        }),
        'routes/index.get.ts': `import { hello } from '@ws/shared'\nimport { plain } from 'plain'\nexport default () => hello + plain\n`,
      },
      (app) => {
        link(app, '@ws/shared', {
          'package.json': JSON.stringify({
            name: '@ws/shared',
            version: '1.2.3',
            type: 'module',
            exports: { types: './index.d.ts', default: './index.js' },
            scripts: { prepare: 'exit 1' },
            dependencies: { deep: 'link:../deep', yup: '1.7.1' },
            devDependencies: { typescript: '*' },
          }),
          'index.js': `export { hello } from 'deep'\n`,
          'index.d.ts': `export declare const hello: string\n`,
          '.env': 'SECRET=1\n',
        })
        const module = { 'index.js': `export const hello = 'hello'\nexport const plain = 1\n` }
        const types = {
          'index.d.ts': `export declare const hello: string\nexport declare const plain: number\n`,
        }
        for (const name of ['deep', 'plain'])
          link(
            app,
            name,
            {
              ...module,
              ...types,
              'package.json': JSON.stringify({
                name,
                version: '1.0.0',
                type: 'module',
                exports: './index.js',
              }),
            },
            name === 'deep' ? join(app.directory, 'workspace/@ws/shared') : app.directory,
          )
      },
    )
    expect(ran.code, ran.err).to.equal(0)
    const output = outputManifest(project)
    expect(output['dependencies']).to.deep.equal({
      yup: '1.7.1',
      '@ws/shared': 'file:.framework/packages/@ws/shared',
      plain: 'file:.framework/packages/plain',
    })
    const copy = join(project.directory, 'dist/.framework/packages/@ws/shared')
    const copied = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8')) as Record<string, unknown>
    expect(copied['dependencies']).to.deep.equal({ deep: 'file:../../deep', yup: '1.7.1' })
    expect(copied).not.to.have.any.keys('devDependencies', 'scripts')
    expect(existsSync(join(copy, 'index.js'))).to.equal(true)
    for (const hidden of ['.env', 'node_modules'])
      expect(existsSync(join(copy, hidden)), hidden).to.equal(false)
    expect(existsSync(join(project.directory, 'dist/.framework/packages/deep/index.js'))).to.equal(true)
  })

  const REFUSED: readonly (readonly [name: string, files: Files, ...words: RegExp[]])[] = [
    [
      'a file that is read while the application is assembled',
      {
        'routes/page.html': '<p>',
        'routes/index.get.ts': `import { readFileSync } from 'node:fs'
const page = readFileSync(new URL('page.html', import.meta.url), 'utf8')
export default () => page
`,
      },
      /reads routes\/page\.html, which is not in the output/,
    ],
    [
      'a process that ends while the application is assembled',
      {
        'app.ts': `import { createApp } from 'mortar'
if (import.meta.url.endsWith('.js')) process.exit(3)
export const app = createApp()
`,
      },
      /the process ended with 3/,
    ],
  ]

  for (const [name, files, ...words] of REFUSED)
    it(`refuses ${name}`, () => expectRefused(build(files), ...words))

  it('refuses a static import of a package that only development installs', () => {
    const files = {
      ...manifest({ dependencies: {}, devDependencies: { yup: '1.7.1' } }),
      'routes/index.get.ts': `import { string } from 'yup'\nexport default () => string().type\n`,
    }
    expectRefused(
      build(files),
      /routes\/index\.get\.ts imports yup, which is in "devDependencies"/,
      /devDependencies.*\n.*Move it to "dependencies"/,
    )
    const late = {
      'lib/late.ts': `import { string } from 'yup'\nexport const late = string().type\n`,
      'routes/index.get.ts': `export default async () => (await import('../lib/late.ts')).late\n`,
    }
    expect(build({ ...files, ...late }).ran.code, 'an import that not every start needs').to.equal(0)
  })

  it('passes JSON modules, CommonJS files, late imports and the folders of bricks, and runs neither server nor migration', () => {
    const { ran, project } = build({
      ...manifest({}),
      'server.ts': `import { writeFileSync } from 'node:fs'\nwriteFileSync('server-was-run', '')\n`,
      'data.json': '{ "answer": 42 }',
      'old.cts': `const old: number = 1\nexport = { old }\n`,
      'late.ts': `export const late = 3\n`,
      'migrations/1.ts': `import { writeFileSync } from 'node:fs'\nwriteFileSync('migration-was-run', '')\n`,
      'jobs/send.ts': 'export const job: number = 1\n',
      'mail/welcome.de.ts': 'export const template: number = 1\n',
      'routes/index.get.ts': `import data from '../data.json' with { type: 'json' }
import old from '../old.cts'
export default async () => data.answer + old.old + (await import('../late.ts')).late
`,
    })
    expect(ran.code, ran.err).to.equal(0)
    for (const name of ['server', 'migration'])
      expect(existsSync(join(project.directory, `${name}-was-run`)), name).to.equal(false)
    const folders = ['migrations/1.js', 'jobs/send.js', 'mail/welcome.de.js']
    for (const file of ['data.json', 'old.cjs', 'late.js', ...folders])
      expect(existsSync(join(project.directory, 'dist', file)), file).to.equal(true)
    rmSync(join(project.directory, 'dist'), { recursive: true })
  })
})
