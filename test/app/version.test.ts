import { expect } from 'chai'
import { createApp } from 'mortar'
import { createPinoLogger, REQUEST_LINE } from '../../src/app/log/pino-logger.ts'
import { applicationVersion } from '../../src/support/env/environment.ts'

const UNREADY = { status: 'unready', failed: ['db'], checks: { db: 'failed' } }

describe('The version of the application', () => {
  afterEach(() => delete process.env['FRAMEWORK_VERSION'])

  /** Log lines of this process, and its version elsewhere. */
  async function seen() {
    const lines: string[] = []
    const logger = createPinoLogger('info', false, { write: (text: string) => void lines.push(text) })
    const request = {
      requestId: 'r',
      method: 'GET',
      path: '/',
      route: '/',
      status: 200,
      ms: 1,
      ip: '::1',
      aborted: false,
    }
    logger[REQUEST_LINE](request)
    logger.info('Hello')
    const versions = lines
      .join('')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { version?: string }).version)
    let isUp = true
    const app = createApp({ logger: false, environment: 'production', health: { critical: ['db'] } })
    app.check('db', { run: () => isUp, cache: 0 })
    const ready = JSON.parse((await app.inject('/readyz')).body) as unknown
    isUp = false
    const unready = JSON.parse((await app.inject('/readyz')).body) as unknown
    const gauge = app.services.gauges.all.get('mortar_build_info')!.read()
    await app.close()
    return { versions, ready, unready, gauge }
  }

  it('is in every log line, in /readyz and in a gauge', async () => {
    process.env['FRAMEWORK_VERSION'] = '1.2.0+3f1c0a9b'
    expect(await seen()).to.deep.equal({
      versions: ['1.2.0+3f1c0a9b', '1.2.0+3f1c0a9b'],
      ready: { status: 'ready', version: '1.2.0+3f1c0a9b' },
      unready: { ...UNREADY, version: '1.2.0+3f1c0a9b' },
      gauge: new Map([['1.2.0+3f1c0a9b', 1]]),
    })
  })

  it('is nowhere if it is not known', async () => {
    expect(await seen()).to.deep.equal({
      versions: [undefined, undefined],
      ready: { status: 'ready' },
      unready: UNREADY,
      gauge: undefined,
    })
  })

  it('is a word of at most 100 characters', () => {
    const read = (text: string): string | undefined => applicationVersion({ FRAMEWORK_VERSION: text })
    expect([read('v1'), read('a'.repeat(100))]).to.deep.equal(['v1', 'a'.repeat(100)])
    for (const wrong of ['', 'a b', '"', 'a'.repeat(101), 'ä', 'a\n'])
      expect(read(wrong), wrong).to.equal(undefined)
  })
})
