import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { docsPage } from '../../src/openapi/docs-page.ts'

const page = docsPage({ title: 'Notes & <b>more</b>', documentUrl: '/openapi.json?a="b"' })

describe('documentation page', () => {
  it('loads nothing from another origin', () => {
    const urls = [...page.html.matchAll(/(?:src|href|url|action)\s*[=(]\s*["']?([^"'\s>)]+)/g)]
    const outside = urls.map(([, url]) => url!).filter((url) => /^(?:https?:)?\/\//.test(url))
    expect(outside).to.deep.equal([])
  })

  it('escapes title and address of the document', () => {
    expect(page.html).to.include('<title>Notes &#38; &#60;b&#62;more&#60;/b&#62;</title>')
    expect(page.html).to.include('data-document="/openapi.json?a=&#34;b&#34;"')
  })

  it('has a policy that allows its own script and style and nothing made from strings', () => {
    for (const tag of ['script', 'style']) {
      const content = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(page.html)![1]!
      const hash = createHash('sha256').update(content).digest('base64')
      expect(page.contentSecurityPolicy).to.include(`${tag}-src 'sha256-${hash}'`)
    }
    expect(page.contentSecurityPolicy)
      .to.include("default-src 'none'")
      .and.include("require-trusted-types-for 'script'")
      .and.include("frame-ancestors 'none'")
      .and.not.include('unsafe')
  })

  it('builds no HTML from strings', () => {
    expect(page.html).not.to.match(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/,
    )
    expect(page.html).not.to.match(/\sstyle=|\son[a-z]+=/)
  })
})
