import { expect } from 'chai'
import { createApp, createRouter, defineBrick, type Logger } from 'mortar'
import { object, string } from 'yup'

const router = (path: string) =>
  createRouter().post(path, { body: object({ name: string().test('odd', 'is odd', () => true) }) }, () => 1)

describe('A part of a schema that OpenAPI cannot show', () => {
  it('causes a warning for a route of the application, but not for a route of a brick', async () => {
    const lines: string[] = []
    const note = (line: unknown): void => void lines.push(String(line))
    const logger: Logger = { debug: note, info: () => {}, warn: note, error: note, child: () => logger }
    const app = createApp({ environment: 'development', logger })
      .use(router('/mine'))
      .use(defineBrick({ name: 'foreign', routes: [router('/theirs')] }))
    await app.ready()
    await app.close()
    expect(lines).to.have.length(1)
    expect(lines[0]).to.contain('POST /mine').and.to.contain("its test 'odd' is not shown")
  })
})
