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

  it('logs a warning at start with the value and the modes when it is not a mode', async () => {
    expect(await warningsUnder('prod')).to.match(/NODE_ENV is 'prod'.*Set NODE_ENV=production/)
  })

  for (const mode of ['development', ' Production', 'test', ''])
    it(`logs no warning when it is '${mode}'`, async () => {
      expect(await warningsUnder(mode)).to.equal('')
    })
})
