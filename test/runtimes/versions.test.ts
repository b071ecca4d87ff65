import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { ROOT } from '../architecture/tree.ts'

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** The parts of `.github/workflows/ci.yml` that name versions. */
interface Workflow {
  readonly jobs: Record<
    'tests' | 'runtimes',
    { readonly strategy: { readonly matrix: { readonly include: Version[] } } }
  >
}

type Version = Readonly<Record<string, string | number>>

/** The value of a constant in `.ci/runtimes.sh`: one value, or the words of a list. */
function constant(name: string): string[] {
  const value = new RegExp(`^readonly ${name}=\\(?([^)\\n]+)`, 'm').exec(read('.ci/runtimes.sh'))?.[1]
  return value!.split(' ')
}

describe('The runtimes that continuous integration tests', () => {
  const tested = [
    ...constant('NODES').map((version) => `Node ${version}`),
    `Bun ${constant('BUN')[0]}`,
    `Deno ${constant('DENO')[0]}`,
  ]

  for (const page of ['README.md', 'docs/runtimes.md'])
    it(`are named in ${page}, and no other version`, () => {
      const named = read(page).match(/\b(?:Node|Bun|Deno) \d+\.\d+\.\d+/g) ?? []
      expect([...new Set(named)].toSorted()).to.deep.equal(tested.toSorted())
    })

  it('are the versions of the workflow too, beside the oldest Node', () => {
    const { jobs } = parse(read('.github/workflows/ci.yml')) as Workflow
    const nodes = jobs.tests.strategy.matrix.include.map(({ node }) => `Node ${node}`)
    const others = jobs.runtimes.strategy.matrix.include.map(
      ({ runtime, version }) => `${runtime} ${version}`,
    )
    expect([...nodes, ...others]).to.have.members(['Node 20', ...tested])
  })

  it('get the SQLite driver that the workflow installs too', () => {
    expect(read('.github/workflows/ci.yml')).to.include(`better-sqlite3@${constant('SQLITE')[0]}\n`)
  })

  it('cover each line of Node that package.json accepts from 22', () => {
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
    expect(engines.node).to.equal('>=20.19')
    const lines = constant('NODES').map((version) => version.split('.')[0])
    expect(lines).to.have.members(['22', '24', '26'])
  })
})
