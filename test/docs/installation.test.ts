import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { partsOf, type BrickRecipe } from '../../src/cli/brick-recipe.ts'
import { tableRows } from '../architecture/markdown.ts'
import { ROOT } from '../architecture/tree.ts'

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
  readonly mortar: { readonly bricks: Readonly<Record<string, BrickRecipe>> }
}

const page = readFileSync(join(ROOT, 'docs/installation.md'), 'utf8')
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest
const { bricks } = manifest.mortar

/** Each brick with each variant, and its packages. */
const expected = Object.entries(bricks).flatMap(([name, recipe]) =>
  (recipe.variants === undefined ? [undefined] : Object.keys(recipe.variants)).map((variant) => {
    const { peers = [], development = [] } = partsOf(recipe, variant)
    return {
      name,
      choice: variant === undefined ? '' : `--${recipe.option} ${variant}`,
      packages: [...peers, ...development],
    }
  }),
)

describe('docs/installation.md', () => {
  it('lists the packages of each brick as package.json has them', () => {
    const rows = tableRows(page).filter(([first]) => first?.startsWith('`'))
    const documented = rows.map(([name, choice, packages]) => ({
      name: name!.replaceAll('`', ''),
      choice: choice!.replaceAll('`', ''),
      packages: [...packages!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!),
    }))
    expect(documented).to.deep.equal(expected)
  })

  it('names every optional package', () => {
    const missing = Object.keys(manifest.peerDependencies).filter((name) => !page.includes(`\`${name}\``))
    expect(missing).to.deep.equal([])
  })
})

describe('package.json', () => {
  it('has an optional peer, and a version that is tested, for each package of a brick', () => {
    const names = [...new Set(expected.flatMap(({ packages }) => packages))]
    const { peerDependencies, peerDependenciesMeta, devDependencies } = manifest
    const incomplete = names.filter(
      (name) =>
        peerDependencies[name] === undefined ||
        devDependencies[name] === undefined ||
        peerDependenciesMeta[name]?.optional !== true,
    )
    expect(incomplete).to.deep.equal([])
  })

  it('makes no package a dependency that is also a peer', () => {
    const both = Object.keys(manifest.peerDependencies).filter((name) => manifest.dependencies[name])
    expect(both).to.deep.equal([])
  })
})
