import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import type { App } from 'mortar'
import { ROOT } from '../architecture/tree.ts'
import { readBlocks } from './read-blocks.ts'

describe('The application of docs/uploads.md', () => {
  let app: App

  before(async () => {
    const { code } = readBlocks('docs/uploads.md').find((block) => block.code.startsWith('// app.ts'))!
    mkdirSync(join(ROOT, 'data'), { recursive: true })
    const folder = mkdtempSync(join(ROOT, 'data/uploads-'))
    try {
      writeFileSync(join(folder, 'app.ts'), code)
      ;({ app } = (await import(pathToFileURL(join(folder, 'app.ts')).href)) as { app: App })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
  after(() => app.close())

  it('stores a picture and sends it back', async () => {
    const { url } = await app.listen(0, '127.0.0.1')
    const upload = (type: string, size: number) => {
      const form = new FormData()
      form.append('title', 'Cat')
      form.append('picture', new Blob(['x'.repeat(size)], { type }), 'cat.png')
      return fetch(`${url}/pictures`, { method: 'POST', body: form })
    }
    const created = await upload('image/png', 5000)
    expect(created.status).to.equal(201)
    const { id, size } = (await created.json()) as { id: string; size: number }
    expect(size).to.equal(5000)
    const picture = await fetch(`${url}/pictures/${id}`)
    expect(picture.headers.get('content-type')).to.equal('image/png')
    expect(await picture.text()).to.equal('x'.repeat(5000))
    expect((await upload('text/html', 5)).status).to.equal(422)
    expect((await upload('image/png', 2 * 1024 * 1024 + 1)).status).to.equal(413)
  })
})
