import { expect } from 'chai'
import { readBlocks, userDocuments } from './read-blocks.ts'
import { typeCheckSnippets } from './type-check-snippets.ts'

/** Without the signatures of exports, which are not code to copy. */
const blocks = userDocuments()
  .filter((path) => !path.startsWith('docs/reference/'))
  .flatMap(readBlocks)
/** Code of other frameworks, beside which a guide has ours, is `typescript`: their packages are not installed. */
const inTypeScript = blocks.filter(({ language }) => language === 'ts')

describe('the code in the documents', function () {
  it('compiles as a reader would copy it', async () => {
    expect(inTypeScript.length).to.be.greaterThan(10)
    expect(await typeCheckSnippets(inTypeScript)).to.deep.equal([])
  })

  it('is reported with its place if it does not compile', async () => {
    const wrong = {
      language: 'ts',
      code: "import { createApp } from 'mortar'\ncreateApp({ port: 1 })\n",
      file: 'docs/x.md',
      line: 7,
    }
    const [complaint, ...others] = await typeCheckSnippets([wrong])
    expect(complaint).to.match(/^docs\/x\.md:9: error TS2353: .*'port'/)
    expect(others).to.deep.equal([])
  })

  it('is valid JSON if it is marked as JSON', () => {
    for (const { code, file, line } of blocks.filter(({ language }) => language === 'json'))
      expect(() => JSON.parse(code) as unknown, `${file}:${line}`).not.to.throw()
  })

  it('names its language', () => {
    const known = new Set([
      'ts',
      'typescript',
      'json',
      'sh',
      'text',
      'ini',
      'html',
      'http',
      'dockerfile',
      'yaml',
      'sql',
      'diff',
      'mermaid',
      'nginx',
    ])
    const others = blocks.filter(({ language }) => language !== '' && !known.has(language))
    expect(others.map(({ file, line, language }) => `${file}:${line} ${language}`)).to.deep.equal([])
  })
})
