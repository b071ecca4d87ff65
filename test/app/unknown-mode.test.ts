import { expect } from 'chai'
import { createApp, type Logger } from 'mortar'

describe('NODE_ENV', () => {
  const before = process.env['NODE_ENV']
  afterEach(() => {
    process.env['NODE_ENV'] = before
  })

  async function warningsUnder(mode: string): Promise<string> {
    process.env['NODE_ENV'] = mode
    const lines: unknown[] = []
    const nothing = (): void => {}
    const warn = (...given: unknown[]): void => void lines.push(...given)
    const logger: Logger = { debug: nothing, info: nothing, warn, error: nothing, child: () => logger }
    const app = createApp({ logger, signals: false })
    await app.listen(0, '127.0.0.1')
    await app.close()
    return lines.join(' ')
  }

  it('that is not a mode is a warning at the start that names the value and the modes', async () => {
    expect(await warningsUnder('prod')).to.match(/NODE_ENV is 'prod'.*Set NODE_ENV=production/)
  })

  for (const mode of ['development', ' Production', 'test', ''])
    it(`is no warning when it is '${mode}'`, async () => {
      expect(await warningsUnder(mode)).to.equal('')
    })
})
