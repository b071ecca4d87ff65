import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { partsOf, type BrickRecipe } from '../../src/cli/brick-recipe.ts'
import { tableRows } from '../architecture/markdown.ts'
import { ROOT, readPackages } from '../architecture/tree.ts'

interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional: boolean }>>
  readonly mortar: { readonly brick?: BrickRecipe; readonly bricks?: Readonly<Record<string, BrickRecipe>> }
}

const page = readFileSync(join(ROOT, 'docs/installation.md'), 'utf8')
const manifests = readPackages().map(({ manifest }) => manifest as unknown as Manifest)
const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  devDependencies: Readonly<Record<string, string>>
}

/** Each brick with each variant, and its packages. A variant may be a brick of its own. */
const expected = manifests.toReversed().flatMap(({ name, mortar: { brick, bricks = {} } }) => {
  const recipes =
    brick === undefined ? Object.entries(bricks) : [[name.replace('@mortar/', ''), brick] as const]
  const own = brick === undefined ? [] : [name]
  return recipes.flatMap(([known, recipe]) => rowsOf(known, recipe, own))
})

function rowsOf(name: string, recipe: BrickRecipe, own: readonly string[]) {
  const variants = Object.entries(recipe.variants ?? {}).filter(([, { brick }]) => brick === undefined)
  const choices = recipe.variants === undefined ? [undefined] : variants.map(([variant]) => variant)
  return choices.map((variant) => {
    const { peers = [], development = [] } = partsOf(recipe, variant)
    return {
      name,
      choice: variant === undefined ? '' : `--${recipe.option} ${variant}`,
      packages: [...own, ...peers, ...development],
    }
  })
}

describe('docs/installation.md', () => {
  it('lists the packages of each brick as package.json has them', () => {
    const rows = tableRows(page).filter(([first]) => first?.startsWith('`'))
    const documented = rows.map(([name, choice, packages]) => ({
      name: name!.replaceAll('`', ''),
      choice: choice!.replaceAll('`', ''),
      packages: [...packages!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!),
    }))
    expect(documented).to.have.deep.members(expected)
  })

  it('names every optional package', () => {
    const optional = manifests.flatMap(({ peerDependenciesMeta = {} }) => Object.keys(peerDependenciesMeta))
    expect(optional.filter((name) => !page.includes(`\`${name}\``))).to.deep.equal([])
  })
})

describe('package.json', () => {
  it('has a range, and a version that is tested, for each package of a recipe', () => {
    const ranges = Object.assign({}, ...manifests.map((each) => each.peerDependencies)) as object
    const pinned = Object.assign({}, ...manifests.map((each) => each.dependencies)) as object
    const names = expected.flatMap(({ packages }) => packages).filter((name) => !name.startsWith('@mortar/'))
    const isPinned = (name: string): boolean =>
      Object.hasOwn(devDependencies, name) || Object.hasOwn(pinned, name)
    const incomplete = names.filter(
      (name) => !isPinned(name) || !Object.hasOwn({ ...ranges, ...pinned }, name),
    )
    expect(incomplete).to.deep.equal([])
  })

  it('makes no package a dependency that is also a peer', () => {
    const both = manifests.flatMap(({ dependencies = {}, peerDependencies }) =>
      Object.keys(peerDependencies).filter((name) => Object.hasOwn(dependencies, name)),
    )
    expect(both).to.deep.equal([])
  })
})
