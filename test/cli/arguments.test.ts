import { spawnSync } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { expect } from 'chai'
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
    expect(project.mortar(['--version']).out).to.match(/^\d+\.\d+\.\d+\n$/)
    expect(project.mortar(['help', 'openapi']).out).to.include('--check VALUE')
  })

  const mistakes: readonly (readonly [args: string[], says: string])[] = [
    [[], 'Usage: mortar'],
    [['rotues'], "Did you mean 'routes'?"],
    [['nothing'], 'and those of bricks: mortar auth, mortar jobs, mortar limits.'],
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

  it('need an application, or report how to name one', () => {
    const ran = project.mortar(['routes', '--app', 'nothing.ts'])
    expect(ran.code).to.equal(1)
    expect(ran.err).to.include('MORTAR_CLI_APP')
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
