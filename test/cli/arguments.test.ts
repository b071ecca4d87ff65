import { spawnSync } from 'node:child_process'
import { existsSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { wantsColour } from '../../src/cli/terminal.ts'
import { createProject, type TestProject } from './project.ts'

describe('the arguments of mortar', function () {
  let project: TestProject
  before(() => void (project = createProject({ 'routes/index.get.ts': 'export default () => 1\n' })))
  after(() => project.remove())

  it('name a command; help and version print to standard output', () => {
    const help = project.mortar(['--help'], { alone: true })
    expect([help.code, help.err]).to.deep.equal([0, ''])
    for (const name of ['new', 'dev', 'build', 'start', 'routes', 'openapi', 'migrate', 'doctor', 'generate'])
      expect(help.out).to.match(new RegExp(`^ {2}${name} `, 'm'))
    expect(help.out).to.match(/^Bricks add commands[^]*: mortar auth, mortar jobs, mortar limits\.$/m)
    expect(project.mortar(['--version']).out).to.match(/^\d+\.\d+\.\d+\n$/)
    expect(project.mortar(['help', 'openapi']).out).to.include('--check VALUE')
  })

  it('lead from the help to the commands of a brick that the application has', () => {
    const app = createProject({
      'app.ts': `import { createApp } from 'mortar'
import { limits } from '@mortar/limits'
export const app = createApp({ bricks: [limits()] })
`,
    })
    const help = app.mortar(['help'])
    const [, lists] = /mortar (help limits)/.exec(help.out) ?? []
    const ran = app.mortar((lists ?? '').split(' '))
    app.remove()
    expect([ran.code, ran.err]).to.deep.equal([0, ''])
    expect(ran.out).to.include('mortar limits show')
  })

  const mistakes: readonly (readonly [args: string[], says: string])[] = [
    [[], 'Usage: mortar'],
    [['rotues'], "Did you mean 'routes'?"],
    [['nothing'], 'and those of bricks: mortar auth, mortar jobs, mortar limits.'],
    [['jobs', 'list'], "This application has no brick 'jobs'. Add it: npx mortar add jobs"],
    [['console', 'notes'], 'console accepts no names. Usage: mortar console [--write] [--eval CODE]'],
    [['routes', '--jsn'], '--jsn'],
    [['migrate', 'stauts'], "not a step of migrate. Did you mean 'status'?"],
    [['migrate', 'generate'], 'Give the migration a name'],
    [['generate', 'route', 'FETCH', '/a'], 'METHOD is one of'],
  ]
  for (const [args, says] of mistakes)
    it(`are rejected with exit code 2 and a message on standard error: mortar ${args.join(' ')}`, () => {
      const ran = project.mortar(args)
      expect([ran.code, ran.out]).to.deep.equal([2, ''])
      expect(ran.err).to.include(says)
    })

  for (const name of ['dev', 'build', 'start', 'work', 'reload', 'console', 'routes', 'openapi', 'doctor'])
    it(`have no name after ${name}`, () => {
      const ran = project.mortar([name, 'extra'])
      expect([ran.code, ran.out]).to.deep.equal([2, ''])
      expect(ran.err).to.include(`${name} accepts no names. Usage: mortar ${name}`)
    })

  it('need an application, or report how to name one', () => {
    for (const name of ['routes', 'auth', 'jobs', 'limits']) {
      const ran = project.mortar([name, '--app', 'nothing.ts'])
      expect(ran.code).to.equal(1)
      expect(ran.err).to.include('MORTAR_CLI_APP')
    }
    const folder = createProject({})
    rmSync(join(folder.directory, 'app.ts'))
    const ran = folder.mortar(['jobs', 'list'])
    folder.remove()
    expect([ran.code, ran.err.includes('There is no app.ts')], ran.err).to.deep.equal([1, true])
  })

  const manifests: readonly (readonly [manifest: string, found: string])[] = [
    ['[]', 'is not a JSON object'],
    ['null', 'is not a JSON object'],
    ['{ "mortar": "app.ts" }', 'has a "mortar" that is not a JSON object'],
    ['{ "mortar": { "app": 7 } }', 'has a "mortar" whose "app" is not a path'],
    ['{ "mortar": { "out": [] } }', 'has a "mortar" whose "out" is not a path'],
  ]
  it('need a package.json of the right form', () => {
    const broken = createProject({})
    for (const [manifest, found] of manifests) {
      broken.write({ 'package.json': manifest })
      for (const args of [['routes'], ['generate', 'route', 'GET', '/x'], ['add', 'mail'], ['limits']]) {
        const ran = broken.mortar(args)
        expect([ran.code, ran.out]).to.deep.equal([1, ''])
        expect(ran.err, manifest).to.include(`package.json ${found}.`).and.include('[MORTAR_CLI_PACKAGE]')
      }
    }
    expect(existsSync(join(broken.directory, 'routes'))).to.equal(false)
    // Some editors of Windows begin a file with it, npm and Node accept it, and tsx does not.
    broken.write({ 'package.json': '\ufeff{ "type": "module" }' })
    expect(broken.mortar(['routes']).err).to.include('U+FEFF (remove this byte order mark)')
    broken.remove()
  })

  it('end with 1 if their result cannot be written, and not if its reader has left', function () {
    if (!existsSync('/dev/full')) this.skip()
    const full = project.mortar(['routes'], { output: openSync('/dev/full', 'w') })
    expect(full.code).to.equal(1)
    expect(full.err).to.include('The result could not be written: ENOSPC')
    const shell = [
      '-c',
      '"$0" "$1" routes | true; exit "${PIPESTATUS[0]}"',
      process.execPath,
      project.program,
    ]
    expect(spawnSync('bash', shell, { cwd: project.directory }).status).to.equal(0)
  })

  it('lead to an unexpected error without its secrets, but with its stack', () => {
    project.write({ 'broken.ts': "throw new Error('connect to postgres://notes:hunter2@db failed')\n" })
    const { code, err } = project.mortar(['routes', '--app', 'broken.ts'])
    expect(code).to.equal(1)
    expect(err).to.include('@db failed').and.include('broken.ts').and.not.include('hunter2')
  })
})

describe('the colours of mortar', () => {
  for (const [variables, isTerminal, expected] of [
    [{}, true, true],
    [{}, false, false],
    [{ TERM: 'dumb' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ FORCE_COLOR: 'false' }, true, false],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
  ] as const)
    it(`are ${expected ? 'on' : 'off'} ${isTerminal ? 'in a terminal' : 'in a pipe'} with ${JSON.stringify(variables)}`, () =>
      expect(wantsColour(variables, isTerminal)).to.equal(expected))
})
