import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { check } from 'prettier'
import { ROOT } from '../architecture/tree.ts'
import { readBlocks } from '../docs/read-blocks.ts'
import { followGuide } from './guide-files.ts'
import { newApplication } from './new-application.ts'

describe('the modules of the guides', () => {
  let directory: string
  before(async () => {
    mkdirSync(join(ROOT, 'data'), { recursive: true })
    directory = mkdtempSync(join(ROOT, 'data/guides-'))
    // Without it, the .gitignore of this repository leaves out the folder, and so does the list of a new application.
    mkdirSync(join(directory, '.git'))
    const application = await newApplication()
    const { ignorePatterns: _, ...rules } = JSON.parse(application['.oxlintrc.json']!)
    write('.oxlintrc.json', JSON.stringify(rules))
    const { compilerOptions } = JSON.parse(application['tsconfig.json']!)
    const customConditions = ['source']
    write('tsconfig.json', JSON.stringify({ compilerOptions: { ...compilerOptions, customConditions } }))
    for (const guide of readdirSync(join(ROOT, 'docs/guides')))
      for (const [path, content] of Object.entries(
        followGuide(application, readBlocks(join('docs/guides', guide))),
      ))
        // Each application has its own rules for its tests, by a path that begins with `test/`.
        if (path.endsWith('.ts') && !path.startsWith('test/')) write(join(guide, path), content)
  })
  after(() => rmSync(directory, { recursive: true }))

  function write(path: string, content: string): void {
    mkdirSync(join(directory, dirname(path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }

  it('pass the lint of a new application', () => {
    const oxlint = join(ROOT, 'node_modules/.bin/oxlint')
    const { status, stdout } = spawnSync(oxlint, ['--deny-warnings', '.'], {
      cwd: directory,
      encoding: 'utf8',
    })
    expect(status, stdout).to.equal(0)
  })
  it('have the format of a new application, also where they change its files', async () => {
    const application = await newApplication()
    const style = JSON.parse(application['.prettierrc.json']!) as object
    const others: string[] = []
    for (const guide of readdirSync(join(ROOT, 'docs/guides'))) {
      const files = Object.entries(followGuide(application, readBlocks(join('docs/guides', guide))))
      for (const [path, content] of files)
        if (content !== application[path] && path.endsWith('.ts'))
          if (!(await check(content, { ...style, filepath: path }))) others.push(`${guide}: ${path}`)
    }
    expect(others).to.deep.equal([])
  })
})
