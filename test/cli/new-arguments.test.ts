import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createProject, type TestProject } from './project.ts'

describe('the arguments of mortar new', function () {
  let project: TestProject
  before(() => void (project = createProject({})))
  after(() => project.remove())

  const create = (...args: string[]) => project.mortar(['new', ...args, '--no-install'])

  it('names the folder that lacks the tarballs of --mortar, before it writes a file', () => {
    for (const place of ['no-packages', 'no-packages/mortar-0.1.0.tgz']) {
      const { code, err } = create('packed', '--mortar', `file:../${place}`)
      expect([code, existsSync(join(project.directory, 'packed'))]).to.deep.equal([2, false])
      const folder = join(project.directory, place)
      expect(err).to.equal(
        `mortar: --mortar is file:../${place}, but there is no mortar-0.1.0.tgz in the folder ${folder}.\n`,
      )
    }
  })

  it('names a brick whose tarball is missing beside that of the framework', () => {
    project.write({ 'some/mortar-0.1.0.tgz': '', 'some/mortar-database-0.1.0.tgz': '' })
    const { code, err } = create('packed', '--mortar', 'file:../some')
    expect([code, existsSync(join(project.directory, 'packed'))]).to.deep.equal([2, false])
    expect(err).to.match(/there is no mortar-(auth|mail)-0\.1\.0\.tgz in the folder/)
  })

  for (const version of [
    '0.1.0',
    '^0.1.0',
    '~0.1',
    '0.x',
    '>=0.1.0 <0.3.0',
    '0.1.0 - 0.2',
    '^0.1.0 || ^0.2.0-beta.1',
    'next',
  ])
    it(`accepts --mortar ${version}`, () => {
      const name = `of-${encodeURIComponent(version)
        .toLowerCase()
        .replaceAll(/[^a-z0-9]/g, '-')}`
      expect(create(name, '--mortar', version).code).to.equal(0)
      expect(readFileSync(join(project.directory, name, 'package.json'), 'utf8')).to.include(
        `"mortar": "${version}"`,
      )
    })

  for (const [folder, name] of [
    ['My App', 'my-app'],
    ['Café_2.0', 'cafe_2.0'],
    ['.заметки', 'app'],
  ] as const)
    it(`makes a package name of the current folder: ${folder}`, () => {
      const directory = join(project.directory, folder)
      mkdirSync(directory)
      const { code, err } = project.mortar(['new', '.', '--no-install'], { directory })
      expect(code, err).to.equal(0)
      expect(JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))).to.include({ name })
    })

  const mistakes: readonly (readonly [args: string[], says: string])[] = [
    [[], 'Give the application a name'],
    [['a', 'b'], 'one name'],
    [['My App'], 'lower-case'],
    [['mortar'], 'is not a valid name'],
    [['x', '--database', 'oracle'], "sqlite, postgres, mysql or none, not 'oracle'"],
    [['x', '--package-manager', 'deno'], "npm, pnpm, yarn or bun, not 'deno'"],
    [['x', '--auth', 'magic'], "basic or none, not 'magic'"],
    [['x', '--database', 'none', '--auth', 'basic'], '--auth basic needs a database'],
    [['x', '--auth', 'none', '--auth-features'], '--auth-features needs --auth basic'],
    [['x', '--no-tests'], "Unknown option '--no-tests'"],
    [['x', '--mortar', '^zz'], "--mortar is '^zz'. Write a version such as"],
    [['x', '--mortar', ''], "--mortar is ''. Write a version such as"],
    [['x', '--mortar', '1.2.3.4'], "--mortar is '1.2.3.4'. Write a version such as"],
    [['x', '--mortar', '../packages'], "--mortar is '../packages'. Write a version such as"],
  ]
  for (const [args, says] of mistakes)
    it(`ends with 2 and makes nothing: new ${args.join(' ')}`, () => {
      const { code, out, err } = create(...args)
      expect([code, out]).to.deep.equal([2, ''])
      expect(err).to.include(says)
      expect(readdirSync(project.directory)).not.to.include('x')
    })
})
