import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { APPLICATION_REQUIREMENTS } from '../../plugins/auth/asvs/application-requirements.ts'
import { OPTION_REQUIREMENTS } from '../../plugins/auth/asvs/option-requirements.ts'
import { inlineCode, tableRows } from '../architecture/markdown.ts'
import { readOptions } from '../architecture/read-options.ts'
import { ROOT } from '../architecture/tree.ts'
import { declaredTests } from './dry-run.ts'

/** Levels of the requirements of each section of ASVS 5.0, in their order: section 6.1 has 6.1.1 of level 1, and so on. */
const LEVELS: Readonly<Record<string, string>> = {
  '6.1': '122',
  '6.2': '111111112222',
  '6.3': '11223333',
  '6.4': '112233',
  '6.5': '22222333',
  '6.6': '2223',
  '6.7': '33',
  '6.8': '2222',
  '7.1': '222',
  '7.2': '1111',
  '7.3': '22',
  '7.4': '11222',
  '7.5': '223',
  '7.6': '22',
  '9.1': '111',
  '9.2': '1222',
}
const REQUIRED = Object.entries(LEVELS).flatMap(([section, levels]) =>
  [...levels].map((level, index) => `${section}.${index + 1} level ${level}`),
)

/** Interfaces whose keys are options, and the files that declare them. */
const OPTIONS = {
  PasswordAuthOptions: 'plugins/auth/options/options.ts',
  WeakPasswordOptions: 'plugins/auth/passwords/weak-passwords/password-judge.ts',
  HostedAuthOptions: 'plugins/auth-hosted/options.ts',
  AuthOptions: 'plugins/auth/brick.ts',
  AppOptions: 'src/app/options.ts',
}

interface Row {
  readonly id: string
  readonly level: string
  readonly status: string
  readonly how: string
}

const rows: readonly Row[] = tableRows(readFileSync(join(ROOT, 'docs/asvs.md'), 'utf8'))
  .filter(([id]) => /^\d/.test(id ?? ''))
  .map(([id = '', level = '', , status = '', how = '']) => ({ id, level, status, how }))

/** Requirement → file under `test` → titles of its tests that prove the requirement. */
const TESTS = JSON.parse(readFileSync(join(import.meta.dirname, 'asvs-tests.json'), 'utf8')) as Record<
  string,
  Record<string, string[]>
>

describe('docs/asvs.md', () => {
  it('has one row for each requirement of V6, V7 and V9, with its level, in order', () => {
    const listed = rows.filter(({ id }) => /^[679]\./.test(id)).map(({ id, level }) => `${id} level ${level}`)
    expect(listed).to.deep.equal(REQUIRED)
  })

  it('has one row for each requirement of other chapters', () => {
    const others = rows.map(({ id }) => id).filter((id) => !/^[679]\./.test(id))
    expect(others).to.have.length.above(20)
    expect(others).to.deep.equal([...new Set(others)])
  })

  it('names for each requirement who meets it: default, option or application', () => {
    for (const { id, status } of rows) expect(status, id).to.match(/^(default|application|option `\w+`)$/)
  })

  it('names only options that exist', () => {
    const known = Object.entries(OPTIONS).flatMap(([name, file]) => {
      const found = readOptions(readFileSync(join(ROOT, file), 'utf8'), name)
      expect(found, name).not.to.equal(undefined)
      return found!.keys
    })
    for (const { id, status } of rows)
      for (const option of inlineCode(status)) expect(known, id).to.include(option)
  })

  it('agrees with mortar doctor about the requirements of options and the application', () => {
    const expected = (status: RegExp): string[] =>
      rows
        .filter((row) => status.test(row.status) && row.level !== '3' && !row.how.startsWith('Applies'))
        .map(({ id, level }) => `${id} level ${level}`)
    const listed = (requirements: readonly { ids: readonly string[]; level: number }[]): string[] =>
      requirements.flatMap(({ ids, level }) => ids.map((id) => `${id} level ${level}`))
    expect(listed(APPLICATION_REQUIREMENTS)).to.have.members(expected(/^application$/))
    const ofOptions = listed(OPTION_REQUIREMENTS)
    // Options of createApp are judged elsewhere.
    const ownOptions = expected(/^option/).filter((row) => /^[679]\./.test(row))
    expect(ofOptions).to.include.members(ownOptions)
    expect(rows.map(({ id, level }) => `${id} level ${level}`)).to.include.members(ofOptions)
  })

  it('names a test for each requirement that is met, and a reason for each of the application', () => {
    const met = rows.filter(({ status }) => status !== 'application').map(({ id }) => id)
    expect(Object.keys(TESTS)).to.have.members(met)
    for (const [id, files] of Object.entries(TESTS)) expect(files, id).not.to.be.empty
    for (const { id, how } of rows) expect(how.length, id).to.be.above(10)
  })

  it('names only tests that exist and are not skipped', () => {
    const entries = Object.values(TESTS).flatMap((tests) => Object.entries(tests))
    const named = entries.flatMap(([file, titles]) => titles.map((title) => `${file} › ${title}`))
    expect(new Set(named).size).to.be.above(60)
    const files = [...new Set(entries.map(([file]) => file))]
    expect(files.filter((file) => !existsSync(join(ROOT, 'test', file)))).to.deep.equal([])
    const declared = declaredTests(files)
    expect(named.filter((test) => !declared.has(test))).to.deep.equal([])
  })
})
