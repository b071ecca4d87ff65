import { expect } from 'chai'
import { findBrickNames } from './brick-names.ts'
import { readSources } from './tree.ts'

/** Places that may name a brick, with the reason. */
const ALLOWED: readonly { readonly path: RegExp; readonly reason: string }[] = [
  {
    path: /^src\/contracts\/mailer\.ts$/,
    reason:
      'the address of the page is part of the contract between a brick with a `mailer` and the testing kit',
  },
]

const PLUGINS = {
  'plugins/mail/index.ts': `export { mail } from './brick.ts'\nimport 'nodemailer'\nimport 'koa'`,
  'plugins/auth/index.ts': `export { auth } from './brick.ts'`,
  'plugins/auth/basic/index.ts': `export function basicAuth() {}`,
}

const foundIn = (source: string) =>
  findBrickNames({ 'src/app/x.ts': source, 'src/app/y.ts': `import 'koa'` }, PLUGINS).map(
    ({ line, words }) => ({
      line,
      words,
    }),
  )

describe('src', () => {
  it('names no brick, in strings either', () => {
    const found = findBrickNames(readSources(['src']), readSources(['plugins']))
    const refused = found.filter(({ path }) => !ALLOWED.some((allowed) => allowed.path.test(path)))
    expect(refused.map(({ path, line, words }) => `${path}:${line} ${words}`)).to.deep.equal([])
  })

  it('has no exception that is not needed', () => {
    const found = findBrickNames(readSources(['src']), readSources(['plugins']))
    const unused = ALLOWED.filter(({ path }) => !found.some((each) => path.test(each.path)))
    expect(unused).to.deep.equal([])
  })
})

describe('findBrickNames', () => {
  for (const [what, source, words] of [
    ['a remedy', `const a = 'Register the auth brick.'`, 'auth brick'],
    ['an origin', `const a = "brick 'auth'"`, "brick 'auth'"],
    ['an entry', `const a = '@mortar/mail'`, '@mortar/mail'],
    ['a page', `const a = '/_framework/mail/1'`, '/_framework/mail'],
    ['a file', 'const a = `plugins/mail/README.md`', 'plugins/mail'],
    ['a factory in a message', `const a = 'Write mail({ from }).'`, 'mail('],
    ['a factory of a variant', `const a = 'Write basicAuth({ db }).'`, 'basicAuth('],
    ['a package of a brick', `const a = ['nodemailer']`, `'nodemailer'`],
  ] as const)
    it(`finds ${what}`, () => {
      expect(foundIn(`\n${source}`)).to.deep.equal([{ line: 2, words }])
    })

  for (const [what, source] of [
    ['a comment', `// the auth brick\n/* @mortar/mail */\nconst a = 1 // mail()`],
    ['the key of a route', `const a = { auth: true }\nconst b = 'Remove auth from the route.'`],
    ['a method', `ctx.mail(message)`],
    ['a package that the core imports too', `const a = ['koa']`],
  ] as const)
    it(`ignores ${what}`, () => {
      expect(foundIn(source)).to.deep.equal([])
    })
})
