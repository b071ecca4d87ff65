import { expect } from 'chai'
import { type Rule, findViolations } from './rules.ts'
import { packageOf, readPackages, readSources, treeOf } from './tree.ts'

const MEANING: Record<Rule, string> = {
  layer: 'imports no folder of a later layer',
  cycle: 'imports in no circle',
  'src-outside': 'knows no brick and no application',
  'plugin-outside': 'lets a brick import only itself, mortar and mortar/kit',
  'public-entry': 'lets applications and scripts use public entries only',
  'entry-above': 'imports no entry from a file below it',
  'koa-room': 'imports src/koa in two files alone, which serve no request',
  barrel: 'has no barrels but the public entries',
  dependency: 'imports only packages that its package.json names',
  'unknown-folder': 'keeps every file in a folder of the plan',
}

describe('the source tree', () => {
  const sources = readSources(['src', 'plugins', 'config', 'examples', 'scripts'])
  const violations = findViolations(treeOf(sources, readPackages()))

  for (const [rule, meaning] of Object.entries(MEANING))
    it(meaning, () => {
      const broken = violations.filter((violation) => violation.rule === rule)
      expect(broken.map(({ message }) => message)).to.deep.equal([])
    })
})

describe('package.json', () => {
  const packages = readPackages()
  const [core] = packages

  for (const { folder, manifest } of packages) {
    const { files } = treeOf(readSources([folder]), packages)
    const sources = Object.values(readSources([folder])).join('\n')
    const imported = new Set(
      files.flatMap(({ imports }) => imports.map(({ specifier }) => packageOf(specifier))),
    )

    it(`of ${manifest.name} names no package that the code does not use`, () => {
      const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
      const isUsed = (name: string): boolean =>
        imported.has(name) ||
        imported.has(name.replace('@types/', '')) ||
        sources.includes(`'${name}'`) ||
        sources.includes(`'${name}/`) ||
        // A recipe installs what only applications import.
        JSON.stringify(manifest.mortar).includes(`"${name}"`)
      expect(declared.filter((name) => !isUsed(name))).to.deep.equal([])
    })

    it(`of ${manifest.name} has exact versions of its dependencies`, () => {
      const loose = Object.entries(manifest.dependencies ?? {}).filter(
        ([, range]) => !/^\d+\.\d+\.\d+$/.test(range),
      )
      expect(loose).to.deep.equal([])
    })

    it(`of ${manifest.name} is of the same release as the core`, () => {
      const { version } = core!.manifest
      const ours = Object.entries(manifest.peerDependencies ?? {}).filter(([name]) =>
        /^@?mortar\b/.test(name),
      )
      expect([manifest.version, ...ours.map(([, range]) => range)]).to.deep.equal([
        version,
        ...ours.map(() => version),
      ])
    })
  }
})
