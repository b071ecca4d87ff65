// Puts what `mortar new` and `mortar add` know of the other packages into one file of this one: the recipes of the bricks, and
// the exact versions that the framework is tested with. So both work before anything is installed.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packages, readJson } from '../workspaces.mjs'

export function writeRecipes(dist) {
  writeFileSync(join(dist, 'cli/recipes.json'), `${JSON.stringify(recipes(), null, 2)}\n`)
}

/** See src/cli/recipe-book.ts. */
export function recipes() {
  const [core, ...bricks] = packages().map(({ manifest }) => manifest)
  const { devDependencies } = readJson('package.json')
  const own = Object.entries(core.mortar.bricks).map(([name, recipe]) => [
    name,
    { recipe, ranges: core.peerDependencies },
  ])
  const others = bricks.map(({ name, mortar, dependencies, peerDependencies }) => [
    name.replace('@mortar/', ''),
    { package: name, recipe: mortar.brick, ranges: { ...dependencies, ...peerDependencies } },
  ])
  const pinned = [core, ...bricks].map(({ dependencies }) => dependencies)
  return {
    bricks: Object.fromEntries([...others, ...own]),
    versions: Object.assign({}, devDependencies, ...pinned),
    new: core.mortar.new,
  }
}
