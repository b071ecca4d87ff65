import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { addToBricks } from '../../src/cli/add/edit-bricks.ts'
import { partsOf } from '../../src/cli/brick-recipe.ts'
import type { RecipeBook } from '../../src/cli/recipe-book.ts'
import { builtFramework } from '../support/built-framework.ts'

const MAIL = { import: { '@mortar/mail': 'mail' }, use: 'mail({})' }

describe('addToBricks', () => {
  const listed = (source: string, parts: Parameters<typeof addToBricks>[1] = MAIL) => {
    const edit = addToBricks(source, parts)
    return edit.kind === 'added' ? edit.source : edit.kind
  }

  const cases: readonly (readonly [name: string, source: string, result: string])[] = [
    [
      'fills an empty list',
      'export const bricks = [] as const\n',
      `import { mail } from '@mortar/mail'\nexport const bricks = [mail({})] as const\n`,
    ],
    [
      'appends to a list in one line',
      `import { x } from './x.ts'\nexport const bricks = [x("]")] as const\n`,
      `import { mail } from '@mortar/mail'\nimport { x } from './x.ts'\nexport const bricks = [x("]"), mail({})] as const\n`,
    ],
    [
      'appends to a list with a line for each brick',
      'export const bricks = [\n  one({ list: [1] }),\n  // two ]\n  ...more,\n]\n',
      `import { mail } from '@mortar/mail'\nexport const bricks = [\n  one({ list: [1] }),\n  // two ]\n  ...more,\n  mail({}),\n]\n`,
    ],
    [
      'gives each brick a line if the line would be longer than that of a new application',
      "export const bricks = [database(databaseOptions), auth(provider, { a: [1, 2] }), other('a, [b')] as const\n",
      `import { mail } from '@mortar/mail'\nexport const bricks = [\n  database(databaseOptions),\n  auth(provider, { a: [1, 2] }),\n  other('a, [b'),\n  mail({}),\n] as const\n`,
    ],
    [
      'keeps the comment of the file first, and the comment of the list beside it',
      '// Ours.\n\n/** The bricks. */\nexport const bricks = []\n',
      `// Ours.\n\nimport { mail } from '@mortar/mail'\n/** The bricks. */\nexport const bricks = [mail({})]\n`,
    ],
    [
      'keeps comments above the imports, also with line ends of Windows',
      `/*\r\n * Ours.\r\n */\r\n// @ts-check\r\nimport { x } from './x.ts'\r\nexport const bricks = [x()]\r\n`,
      `/*\r\n * Ours.\r\n */\r\n// @ts-check\r\nimport { mail } from '@mortar/mail'\nimport { x } from './x.ts'\r\nexport const bricks = [x(), mail({})]\r\n`,
    ],
    [
      'keeps the comment of the list beside it',
      '/** The bricks. */\nexport const bricks = []\n',
      `import { mail } from '@mortar/mail'\n/** The bricks. */\nexport const bricks = [mail({})]\n`,
    ],
    [
      'leaves a list that has the brick',
      `import { mail } from "@mortar/mail"\nexport const bricks = []`,
      'present',
    ],
    ['leaves a list that is not a literal', 'export const bricks = makeBricks()\n', 'unknown'],
    ['leaves a list that does not end', `export const bricks = [one('\n`, 'unknown'],
    ['leaves two lists', 'export const bricks = []\nexport const bricks = []\n', 'unknown'],
  ]
  for (const [name, source, result] of cases)
    it(name, () => {
      expect(listed(source)).to.equal(result)
    })

  it('indents the lines of a long brick, and leaves no line longer than that of a new application', () => {
    const brick = { import: { '@mortar/mail': 'mail' }, use: "mail({\n  from: 'a',\n})" }
    const lines = "\n  mail({\n    from: 'a',\n  }),\n] as const\n"
    const head = `import { mail } from '@mortar/mail'\nexport const bricks = [`
    expect(listed('export const bricks = [] as const\n', brick)).to.equal(`${head}${lines}`)
    expect(listed('export const bricks = [one()] as const\n', brick)).to.equal(`${head}\n  one(),${lines}`)
    expect(listed('export const bricks = [\n  one(),\n] as const\n', brick)).to.equal(
      `${head}\n  one(),${lines}`,
    )
    const file = join(builtFramework(), 'mortar/dist/cli/recipes.json')
    const { bricks } = JSON.parse(readFileSync(file, 'utf8')) as RecipeBook
    for (const [name, { recipe }] of Object.entries(bricks))
      for (const variant of Object.keys(recipe.variants ?? { only: {} })) {
        const added = listed('export const bricks = [] as const\n', partsOf(recipe, variant))
        for (const line of added.split('\n')) expect(line.length, `${name} ${line}`).to.be.at.most(110)
      }
  })

  it('adds a name to an import that is there', () => {
    const parts = { import: { mortar: 'env', '@mortar/auth': 'auth' }, use: 'auth()' }
    expect(listed(`import { type App } from 'mortar'\nexport const bricks = []\n`, parts)).to.equal(
      `import { auth } from '@mortar/auth'\nimport { env, type App } from 'mortar'\nexport const bricks = [auth()]\n`,
    )
  })
})

describe('mortar add for a brick that is there with a part from another package', () => {
  it('tells to change the brick, and changes nothing', () => {
    const parts = {
      import: { '@mortar/auth': 'auth', '@mortar/auth-hosted': 'hostedAuth' },
      use: 'auth(hostedAuth())',
    }
    const before = `import { auth } from '@mortar/auth'\nexport const bricks = [auth(provider)]\n`
    expect(addToBricks(before, parts).kind).to.equal('other')
    const after = `import { hostedAuth } from '@mortar/auth-hosted'\n${before}`
    expect(addToBricks(after, parts).kind).to.equal('present')
  })

  it('takes a further entry of the same package as part of the brick', () => {
    const parts = {
      import: { '@mortar/auth': 'auth', '@mortar/auth/basic': 'basicAuth' },
      use: 'auth(basicAuth())',
    }
    const before = `import { auth } from '@mortar/auth'\nexport const bricks = [auth(provider)]\n`
    expect(addToBricks(before, parts).kind).to.equal('present')
  })
})
