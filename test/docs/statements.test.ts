import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createApp, createRouter } from 'mortar'
import { createClient } from 'mortar/testing'
import { number, object } from 'yup'
import { tableRows } from '../architecture/markdown.ts'
import { ROOT } from '../architecture/tree.ts'

function rows(page: string): string[][] {
  return tableRows(readFileSync(join(ROOT, 'docs', page), 'utf8'))
}

function codesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)
}

/** Sentences that were wrong once, compared with the behaviour. */
describe('The statements of the documents', () => {
  it('are right about the text that number() accepts', async () => {
    const [, accepts] = rows('schemas.md').find(([schema]) => schema === '`number()`')!
    const refused = codesIn(accepts!.split('; not ')[1]!)
    const app = createApp({ logger: false }).use(
      createRouter().get('/', { query: object({ n: number().required() }) }, (ctx) => ({ n: ctx.query.n })),
    )
    const client = createClient(app)
    const statusOf = async (n: string) => (await client.get('/', { query: { n } })).status
    expect(refused.length).to.be.greaterThan(3)
    for (const text of [...refused, '']) expect(await statusOf(text), text).to.equal(422)
    for (const text of ['5', '-5', '+5', '5.25']) expect(await statusOf(text), text).to.equal(200)
    await app.close()
  })

  it('are right about the default title and version of the OpenAPI document', async () => {
    const app = createApp({ logger: false })
    const { body } = await createClient(app).get('/openapi.json')
    const { info } = body as { info: { title: string; version: string } }
    const configured = rows('configuration.md').filter(
      ([option]) => option === '`title`' || option === '`version`',
    )
    expect(configured.flatMap(([, value]) => codesIn(value!))).to.deep.equal([info.title, info.version])
    await app.close()
  })
})
