import { expect } from 'chai'
import { exportedOptions, readOptions } from './read-options.ts'

const SOURCE = `
interface ParentOptions {
  readonly inherited?: boolean
}

/** Options { of } a brick. */
export interface BrickOptions extends ParentOptions {
  /** A key: in a comment */
  readonly first: string
  second?: { readonly inner?: number }
  readonly third?: {
    readonly inner?: number
  }
  readonly fourth?: (a: string, b: { c: number }) => void
  fifth(a: string): void
}

interface Other {
  readonly not: string
}
`

describe('readOptions', () => {
  it('gives the keys of an interface and of those it extends', () => {
    expect(readOptions(SOURCE, 'BrickOptions')?.keys).to.deep.equal([
      'inherited',
      'first',
      'second',
      'third',
      'fourth',
      'fifth',
    ])
  })

  it('returns nothing for a name that is not an interface', () => {
    expect(readOptions(SOURCE, 'MissingOptions')).to.equal(undefined)
  })
})

describe('exportedOptions', () => {
  it('finds the options that an entry re-exports or declares', () => {
    const source = `
      export { a, type AOptions } from './a.ts'
    `
      .replaceAll(/^ +/gm, '')
      .concat(
        `export type { B, BOptions, COptions } from './b.ts'\nexport interface DOptions {}\nexport { x } from './x.ts'\n`,
      )
    expect(exportedOptions(source)).to.deep.equal([
      { name: 'AOptions', from: './a.ts' },
      { name: 'BOptions', from: './b.ts' },
      { name: 'COptions', from: './b.ts' },
      { name: 'DOptions', from: undefined },
    ])
  })
})
