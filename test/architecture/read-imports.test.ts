import { expect } from 'chai'
import { isBarrel, readImports } from './read-imports.ts'

function specifiersOf(source: string): string[] {
  return readImports(source).map(({ specifier }) => specifier)
}

describe('readImports', () => {
  for (const [form, source] of [
    ['a default import', `import a from './x.ts'`],
    ['named imports over several lines', `import {\n  a,\n  type B,\n} from './x.ts'`],
    ['a default and named imports', `import a, { b } from './x.ts'`],
    ['a namespace import', `import * as a from './x.ts'`],
    ['a type-only import', `import type { A } from './x.ts'`],
    ['a type-only namespace import', `import type * as A from './x.ts'`],
    ['a side-effect import', `import './x.ts'`],
    ['a re-export', `export { a } from './x.ts'`],
    ['a type-only re-export', `export type { A } from './x.ts'`],
    ['a re-export of everything', `export * from './x.ts'`],
    ['a named re-export of everything', `export * as all from './x.ts'`],
    ['a dynamic import', `const { a } = await import('./x.ts')`],
    ['a type from an import', `let a: import('./x.ts').A`],
    ['double quotes and a semicolon', `import { a } from "./x.ts";`],
    ['an import behind a template', 'const a = `${b({ c: `d` })} // \' `\nconst e = import("./x.ts")'],
    ['an import behind a regular expression', `const a = /['"\`/*]/.test(b)\nconst e = import('./x.ts')`],
    ['an import behind a division', `const a = b / c // it's\nconst e = import('./x.ts') // / `],
  ] as const)
    it(`finds ${form}`, () => {
      expect(specifiersOf(source)).to.deep.equal(['./x.ts'])
    })

  for (const [form, source] of [
    ['a line comment', `// import a from './x.ts'`],
    ['a block comment', `/*\nimport a from './x.ts'\n*/`],
    ['the text of a template', 'const file = `\nimport a from "./x.ts"\n${b}\nimport c from "./y.ts"\n`'],
    ['a string', `const a = "import('./x.ts')"`],
    ['an import by a variable', `await import(path)`],
    ['plain code', `export const a = 1\nexport function from(b: string) {\n  return 'x' + b\n}`],
  ] as const)
    it(`finds nothing in ${form}`, () => {
      expect(specifiersOf(source)).to.deep.equal([])
    })

  it('gives the line of each import', () => {
    const source = `import a from './a.ts'\n/* two\nlines */\nimport {\n  b,\n} from './b.ts'\n`
    expect(readImports(source).map(({ line }) => line)).to.deep.equal([1, 6])
  })
})

describe('isBarrel', () => {
  it('recognises a file that only re-exports', () => {
    expect(
      isBarrel(
        `// names\nexport { a } from './a.ts'\nexport type { B } from './b.ts'\nexport * from './c.ts'\n`,
      ),
    ).to.equal(true)
  })

  it('recognises a file with declarations of its own', () => {
    expect(isBarrel(`export { a } from './a.ts'\nexport const b = 1\n`)).to.equal(false)
    expect(isBarrel(`export const b = 1\n`)).to.equal(false)
  })
})
