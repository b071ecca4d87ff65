import { expect } from 'chai'
import { type Rule, findViolations } from './rules.ts'
import { type Package, treeOf } from './tree.ts'

const brick = (name: string, dependencies: Readonly<Record<string, string>> = {}): Package => ({
  folder: `plugins/${name}`,
  manifest: {
    name: `@mortar/${name}`,
    exports: { '.': { source: './index.ts' }, './provider': { source: './provider-entry.ts' } },
    dependencies,
    peerDependencies: { mortar: '1', '@mortar/auth': '1' },
    mortar: {},
  },
})

const PACKAGES: readonly Package[] = [
  {
    folder: 'src',
    manifest: {
      name: 'mortar',
      exports: {
        '.': { source: './index.ts' },
        './kit': { source: './kit.ts' },
        './testing': { source: './testing/index.ts' },
        './package.json': './package.json',
      },
      dependencies: { koa: '1', '@koa/router': '1' },
      mortar: {},
    },
  },
  brick('mail', { nodemailer: '1' }),
  brick('log'),
  brick('auth'),
  brick('auth-hosted'),
]

/** A tree in which every import is allowed. */
const SOUND: Record<string, string> = {
  'src/errors/codes.ts': `export const codes = {}`,
  'src/errors/http-error.ts': `import { codes } from './codes.ts'`,
  'src/routing/route.ts': `import { codes } from '../errors/codes.ts'\nimport Router from '@koa/router'`,
  'src/app/app.ts': `import type { Route } from '../routing/route.ts'\nimport 'koa/lib/x.js'\nimport 'node:fs'`,
  'src/testing/index.ts': `export { app } from '../app/app.ts'`,
  'src/index.ts': `export { app } from './app/app.ts'`,
  'plugins/mail/index.ts': `export { mail } from './brick.ts'`,
  'plugins/mail/brick.ts': `import { app } from 'mortar'\nimport { send } from './transports/send.ts'`,
  'plugins/mail/transports/send.ts': `import { seconds } from 'mortar/kit'\nimport 'nodemailer'`,
  'plugins/mail/testing/suite.ts': `import { client } from 'mortar/testing'`,
  'plugins/log/brick.ts': `import { app } from 'mortar'`,
  'plugins/auth/index.ts': `export { auth } from './brick.ts'`,
  'plugins/auth/brick.ts': `import { app } from 'mortar'`,
  'plugins/auth/provider-entry.ts': `export { flows } from './brick.ts'`,
  'plugins/auth-hosted/index.ts': `export { hosted } from './provider.ts'`,
  'plugins/auth-hosted/provider.ts': `import type { A } from '@mortar/auth'\nimport { flows } from '@mortar/auth/provider'`,
  'config/data.ts': `import { schema } from '../examples/notes/schema.ts'`,
  'examples/notes/schema.ts': `export const schema = {}`,
  'config/bricks.ts': `import { app } from 'mortar'\nimport { mail } from '@mortar/mail'\nimport x from 'anything'`,
  'examples/notes/app.ts': `import { bricks } from '../../config/bricks.ts'\nimport { b } from './server.ts'`,
  'examples/notes/server.ts': `import { app } from 'mortar'`,
  'scripts/start.ts': `await import('../examples/notes/server.ts')`,
}

function rulesBrokenBy(changes: Record<string, string>): { rule: Rule; file: string }[] {
  const found = findViolations(treeOf({ ...SOUND, ...changes }, PACKAGES))
  return found.map(({ rule, file }) => ({ rule, file }))
}

describe('the layer rules', () => {
  it('find nothing in a correct tree', () => {
    expect(rulesBrokenBy({})).to.deep.equal([])
  })

  for (const [fault, rule, file, source] of [
    ['a folder that imports a later one', 'layer', 'src/errors/x.ts', `import '../routing/route.ts'`],
    ['a type of a later folder', 'layer', 'src/errors/x.ts', `import type { A } from '../app/app.ts'`],
    ['a lazy import of a later folder', 'layer', 'src/errors/x.ts', `await import('../app/app.ts')`],
    ['a type import() of a later folder', 'layer', 'src/errors/x.ts', `let a: import('../app/app.ts').A`],
    ['the entry that hands on test tools', 'layer', 'src/index.ts', `export { a } from './testing/index.ts'`],
    ['a request path that knows Koa', 'koa-room', 'src/app/x.ts', `import type { A } from '../koa/a.ts'`],
    ['the kit that hands on test tools', 'layer', 'src/kit.ts', `export { a } from './testing/index.ts'`],
    ['a folder in no layer', 'unknown-folder', 'src/helpers/x.ts', ''],
    ['a file of src in no folder', 'unknown-folder', 'src/x.ts', ''],
    ['a plugin file in no brick', 'unknown-folder', 'plugins/x.ts', ''],
    [
      'the framework that knows a brick',
      'src-outside',
      'src/app/x.ts',
      `import '../../plugins/mail/brick.ts'`,
    ],
    ['the framework that imports its own name', 'src-outside', 'src/app/x.ts', `import 'mortar'`],
    ['the framework that imports a brick', 'src-outside', 'src/app/x.ts', `import '@mortar/mail'`],
    ['a file that imports the entry above it', 'entry-above', 'src/app/x.ts', `import '../index.ts'`],
    [
      'a brick file that imports its entry',
      'entry-above',
      'plugins/mail/transports/x.ts',
      `import '../index.ts'`,
    ],
    ['a brick that imports another', 'plugin-outside', 'plugins/log/x.ts', `import '../mail/brick.ts'`],
    ['a brick that imports another entry', 'plugin-outside', 'plugins/log/x.ts', `import '../mail/index.ts'`],
    [
      'a brick that reaches into the framework',
      'plugin-outside',
      'plugins/log/x.ts',
      `import '../../src/app/app.ts'`,
    ],
    ['a brick that imports test tools', 'plugin-outside', 'plugins/log/x.ts', `import 'mortar/testing'`],
    ['a brick that imports another by name', 'plugin-outside', 'plugins/log/x.ts', `import '@mortar/auth'`],
    [
      'a provider that imports a brick',
      'plugin-outside',
      'plugins/auth-hosted/x.ts',
      `import '@mortar/mail'`,
    ],
    ['a brick that imports the package of another', 'dependency', 'plugins/log/x.ts', `import 'nodemailer'`],
    ['a package that is not installed along', 'dependency', 'src/app/x.ts', `import 'chai'`],
    ['a built-in module without its prefix', 'dependency', 'src/app/x.ts', `import 'fs'`],
    ['a barrel', 'barrel', 'src/app/all.ts', `export * from './app.ts'`],
    ['an index that is not a public entry', 'barrel', 'src/app/index.ts', `export const a = 1`],
    [
      'an example that reaches into the framework',
      'public-entry',
      'examples/notes/x.ts',
      `import '../../src/index.ts'`,
    ],
    ['an example that imports another', 'public-entry', 'examples/shop/x.ts', `import '../notes/app.ts'`],
    [
      'a configuration that reaches into the framework',
      'public-entry',
      'config/x.ts',
      `import '../src/app/app.ts'`,
    ],
    ['a script that imports a brick', 'public-entry', 'scripts/x.mjs', `import '../plugins/mail/index.ts'`],
    ['a name that is not public', 'public-entry', 'examples/notes/x.ts', `import 'mortar/src/app/app.ts'`],
  ] as const)
    it(`find ${fault}`, () => {
      expect(rulesBrokenBy({ [file]: source })).to.deep.equal([{ rule, file }])
    })

  it('find a circle, type imports counted', () => {
    const found = rulesBrokenBy({
      'src/app/a.ts': `import type { B } from './b.ts'`,
      'src/app/b.ts': `import { c } from './c.ts'`,
      'src/app/c.ts': `const a = await import('./a.ts')`,
      'src/app/d.ts': `import { a } from './a.ts'`,
    })
    expect(found).to.deep.equal([{ rule: 'cycle', file: 'src/app/a.ts' }])
  })

  it('find a file that imports itself', () => {
    expect(rulesBrokenBy({ 'src/app/a.ts': `import './a.ts'` })).to.deep.equal([
      { rule: 'cycle', file: 'src/app/a.ts' },
    ])
  })

  it('name the file, the line and the import', () => {
    const tree = treeOf({ ...SOUND, 'src/errors/x.ts': `\nimport '../app/app.ts'` }, PACKAGES)
    expect(findViolations(tree)[0]?.message).to.equal('src/errors/x.ts:2 imports ../app/app.ts')
  })
})
