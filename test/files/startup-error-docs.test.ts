import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { byCodeUnits } from '../../src/files/diagnostics.ts'

const ROW = /^\| `(?<code>MORTAR_[A-Z_]+)` +\| (?<cause>.+?) +\| (?<remedy>.+?) +\|$/

describe('docs/startup-errors.md', () => {
  const lines = readFileSync(join(import.meta.dirname, '../../docs/startup-errors.md'), 'utf8').split('\n')
  const rows = lines.filter((line) => line.startsWith('| `'))
  const codes = rows.map((row) => ROW.exec(row)?.groups?.['code'] ?? '')

  it('has a cause and a remedy in each row', () => {
    expect(rows.filter((row) => !ROW.test(row))).to.deep.equal([])
  })

  it('has one row for each code, in alphabetical order', () => {
    expect(codes).to.deep.equal([...new Set(codes)].toSorted(byCodeUnits))
  })
})
