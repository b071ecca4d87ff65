import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { readPackages, readSources } from './tree.ts'

/** Lines of code that each package may have, by folder. A package that has become smaller gets a smaller budget. */
const BUDGETS = JSON.parse(readFileSync(join(import.meta.dirname, 'budgets.json'), 'utf8')) as Record<
  string,
  number
>

/** Part of a budget that may be unused. */
const SPARE = 0.05

/** Lines that are neither empty nor a comment. */
function linesOfCode(folder: string): number {
  const lines = Object.values(readSources([folder])).flatMap((source) => source.split('\n'))
  return lines.filter((line) => !/^\s*($|\/\/|\/?\*)/.test(line)).length
}

describe('the lines of code of a package', () => {
  const folders = readPackages().map(({ folder }) => folder)

  it('have a budget for each package', () => {
    expect(Object.keys(BUDGETS).toSorted()).to.deep.equal(folders.toSorted())
  })

  for (const folder of folders)
    it(`stay within the budget of ${folder}, which is not too wide`, () => {
      const budget = BUDGETS[folder] ?? 0
      expect(linesOfCode(folder)).to.be.within(Math.floor(budget * (1 - SPARE)), budget)
    })
})
