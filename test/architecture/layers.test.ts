import { expect } from 'chai'
import { type Rule, findViolations } from './rules.ts'
import { readManifest, readSources, treeOf } from './tree.ts'

const MEANING: Record<Rule, string> = {
  layer: 'imports no folder of a later layer',
  cycle: 'imports in no circle',
  'src-outside': 'knows no brick and no application',
  'plugin-outside': 'lets a brick import only itself and the public entry of the framework',
  'public-entry': 'lets applications and scripts use public entries only',
  'entry-above': 'imports no entry from a file below it',
  'koa-room': 'imports src/koa in two files alone, which serve no request',
  barrel: 'has no barrels but the public entries',
  dependency: 'imports only packages that an installation brings along',
  'unknown-folder': 'keeps every file in a folder of the plan',
}

describe('the source tree', () => {
  const sources = readSources(['src', 'plugins', 'config', 'examples', 'scripts'])
  const violations = findViolations(treeOf(sources, readManifest()))

  for (const [rule, meaning] of Object.entries(MEANING))
    it(meaning, () => {
      const broken = violations.filter((violation) => violation.rule === rule)
      expect(broken.map(({ message }) => message)).to.deep.equal([])
    })
})
