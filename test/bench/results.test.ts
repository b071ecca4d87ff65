import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { goalTable, judge } from '../../bench/goals.ts'
import { readmeTable, withTable } from '../../bench/readme-table.ts'
import type { Measured, Triple } from '../../bench/results.ts'
import { ROOT } from '../architecture/tree.ts'
import { importBench } from './bench-modules.ts'

const { readOptions, RESULTS } = await importBench('options.ts')

const measured = (id: string, ratios: Readonly<Record<string, Triple>>): Measured => ({
  id,
  title: id,
  servers: [{ name: 'mortar', cpu: [10, 9, 11], ratios }],
})

describe('the goals of the bench', () => {
  it('are met up to the limit and missed above it', () => {
    const results = [measured('k', { raw: [1.6, 1.5, 1.7], fastify: [0.93, 0.9, 1] })]
    expect(judge(results).map(({ base, isMet }) => [base, isMet])).to.deep.equal([
      ['raw', true],
      ['fastify', false],
    ])
    expect(goalTable(results)[0]).to.include('1 of 2 are met')
    expect(goalTable(results)[0]).to.include('| k | fastify | ≤ 0.92 | 0.93 [0.90–1.00] | missed |')
  })

  it('of e and m apply to each part; goals of d do not apply to d:off', () => {
    const ratios: Readonly<Record<string, Triple>> = { raw: [1, 1, 1], fastify: [1, 1, 1] }
    const found = judge(['e:10:last', 'm:sqlite', 'd', 'd:off', 'd:many'].map((id) => measured(id, ratios)))
    expect(found.map(({ workload, base, most }) => `${workload} ${base} ${most}`)).to.deep.equal([
      'e:10:last fastify 0.92',
      'm:sqlite fastify 1.15',
      'd raw 0.95',
      'd fastify 0.92',
      'd:off raw 1.12',
      'd:off fastify 0.92',
      'd:many fastify 0.92',
    ])
  })

  it('are not in the table unless they were measured', () => {
    expect(goalTable([measured('g', {})])).to.deep.equal([])
  })
})

describe('the table of README.md', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const results = JSON.parse(readFileSync(join(ROOT, 'bench/results/bench.json'), 'utf8')) as Measured[]

  it('has the results of the last whole run', () => {
    expect(withTable(readme, results)).to.equal(readme)
  })

  it('has a median with its middle half in each cell', () => {
    const table = readmeTable([measured('c', { raw: [0.971, 0.95, 1.024] })])
    expect(table).to.match(/^\| a validated JSON body \| 0\.97 \[0\.95–1\.02\] \|/m)
  })
})

describe('the options of the bench', () => {
  it('write the results of a whole run only', () => {
    expect(readOptions([]).out).to.equal(RESULTS)
    expect(readOptions(['--rounds', '3']).out).to.equal(RESULTS)
    for (const part of [['--quick'], ['--workloads', 'a'], ['--peers', 'mortar'], ['--no-write']])
      expect(readOptions(part).out, part.join(' ')).to.equal(undefined)
    expect(readOptions(['--workloads', 'a', '--out', 'there']).out).to.equal('there')
  })

  it('choose parts of a workload by its name', () => {
    expect(readOptions(['--workloads', 'm,d']).workloads).to.deep.equal([
      'm:sqlite',
      'm:postgres',
      'd',
      'd:off',
      'd:many',
    ])
  })

  it('refuse unknown workloads and peers', () => {
    expect(() => readOptions(['--workloads', 'z'])).to.throw("Unknown workload 'z'. Use a, b,")
    expect(() => readOptions(['--peers', 'rails'])).to.throw("Unknown peer 'rails'. Use raw, raw-tuned,")
  })
})
