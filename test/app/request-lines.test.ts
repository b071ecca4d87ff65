import { spawnSync } from 'node:child_process'
import { mock } from 'node:test'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { holdLines } from '../../src/app/log/held-lines.ts'
import { requestLineWriter } from '../../src/app/log/logger.ts'
import { createPinoLogger, REQUEST_LINE } from '../../src/app/log/pino-logger.ts'
import { requestLine } from '../../src/app/log/request-completed.ts'
import { seedFor } from '../support/seed.ts'

const turn = () =>
  new Promise<void>((resolve) => {
    setImmediate(() => resolve())
  })

/** A logger of the framework and its output, one entry for each write. */
function production(level = 'info') {
  const writes: string[] = []
  const logger = createPinoLogger(level, false, { write: (text: string) => void writes.push(text) })
  return { logger, writes, lines: () => writes.join('').trimEnd().split('\n') }
}

const completed = {
  requestId: 'id-1',
  method: 'GET',
  path: '/notes/7',
  route: '/notes/:id',
  status: 200,
  ms: 1.5,
  ip: '127.0.0.1',
  aborted: false,
}

describe('The log line of a request', () => {
  it('has the fields and the redaction of any other line, whatever the caller sends', async () => {
    const piece = fc.constantFrom(
      '/',
      'a',
      ';token=s3cr3t',
      '://u:p@h/',
      '"password":"x"',
      'eyJhbGciOiJ9.s3cr3tpayload.s3cr3tsignature',
      'Bearer',
      'Bearer abc.12345',
      'token',
      'password%3D1',
      'u:p@h',
      'é€😀',
      '\\',
      '\u0001',
      '%20',
      '&otp=1',
      '?',
      '=',
      ':',
    )
    const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
    let redacted = 0
    await fc.assert(
      fc.asyncProperty(text, text, text, async (path, requestId, ip) => {
        const given = { ...completed, path, requestId, ip }
        const [quick, usual] = [production(), production()]
        quick.logger[REQUEST_LINE](given)
        usual.logger.info(...requestLine(given))
        await turn()
        const [line, expected] = [quick, usual].map(
          ({ lines }) => JSON.parse(lines()[0]!) as { time: number },
        )
        expect({ ...line, time: 0 }).to.deep.equal({ ...expected, time: 0 })
        expect(Object.keys(line!)).to.deep.equal(Object.keys(expected!))
        if (JSON.stringify(line).includes('[redacted]')) redacted += 1
      }),
      { numRuns: 300, seed: seedFor('request lines') },
    )
    expect(redacted).to.be.above(50)
  })

  it('is buffered until the end of the event-loop turn, so that one write has all lines of the turn', async () => {
    const { logger, writes, lines } = production()
    for (let count = 0; count < 3; count++) logger[REQUEST_LINE](completed)
    expect(writes).to.deep.equal([])
    await turn()
    expect(writes).to.have.length(1)
    expect(lines()).to.have.length(3)
  })

  it('is written before a later line that is not buffered', () => {
    const { logger, lines } = production()
    logger[REQUEST_LINE](completed)
    logger.child({ part: 1 }).error('Broken')
    expect(lines().map((line) => (JSON.parse(line) as { msg: string }).msg)).to.deep.equal([
      'GET /notes/7 200 1.5 ms',
      'Broken',
    ])
  })

  it('is not written where the level is above info', async () => {
    const { logger, writes } = production('warn')
    logger[REQUEST_LINE](completed)
    await turn()
    expect(writes).to.deep.equal([])
  })

  it('does not turn off the redaction of later lines', () => {
    const { logger, writes } = production()
    logger[REQUEST_LINE](completed)
    logger.info({ token: 's3cr3t' }, 'Bearer s3cr3t-token')
    expect(writes.join('')).not.to.contain('s3cr3t')
  })

  it('is not buffered when it is long', () => {
    const writes: string[] = []
    const lines = holdLines((bytes) => void writes.push(bytes.toString()))
    lines.hold('a'.repeat(70_000))
    expect(writes).to.have.length(1)
  })

  it('keeps its place and all of its characters when many lines fill the buffer', () => {
    const writes: string[] = []
    const lines = holdLines((bytes) => void writes.push(bytes.toString()))
    const given = Array.from({ length: 500 }, (_, index) => `${index} ${'a€😀'.repeat(index)}\n`)
    for (const line of given) lines.hold(line)
    lines.hold('b'.repeat(70_000))
    expect(writes.join('')).to.equal(`${given.join('')}${'b'.repeat(70_000)}`)
    for (const text of writes.slice(0, -1)) expect(Buffer.byteLength(text)).to.be.within(50_000, 65_536)
  })

  it('waits 10 ms after the line before at most', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const writes: string[] = []
    const lines = holdLines((bytes) => void writes.push(bytes.toString()))
    lines.hold('one')
    await turn()
    // A machine that is busy for 10 ms writes the second line without a timer.
    lines.hold('two')
    mock.timers.tick(10)
    await turn()
    mock.timers.reset()
    expect(writes).to.deep.equal(['one', 'two'])
  })

  it('waits no longer when the clock of the machine is set back', async () => {
    const writes: string[] = []
    const lines = holdLines((bytes) => void writes.push(bytes.toString()))
    const { now } = Date
    lines.hold('one')
    await turn()
    try {
      Date.now = () => now() - 3_600_000
      lines.hold('two')
      const end = performance.now() + 5000
      while (writes.length < 2 && performance.now() < end) await turn()
    } finally {
      Date.now = now
    }
    expect(writes).to.deep.equal(['one', 'two'])
  })

  it("reaches the application's own logger unchanged, and an error of that logger is caught", () => {
    const seen: unknown[] = []
    const own = { info: (...line: unknown[]) => void seen.push(line) } as never
    requestLineWriter(own)(completed)
    expect(seen).to.deep.equal([[{ event: 'request.completed', ...completed }, 'GET /notes/7 200 1.5 ms']])
    const broken = {
      info: () => {
        throw new Error('full disk')
      },
    } as never
    expect(() => requestLineWriter(broken)(completed)).not.to.throw()
  })
})

describe('A process that exits with buffered lines', () => {
  for (const [how, end] of [
    ['process.exit()', 'process.exit(0)'],
    ['an uncaught error', "throw new Error('broken')"],
  ] as const)
    it(`writes them first: ${how}`, () => {
      const script = `
        import { createPinoLogger, REQUEST_LINE } from './src/app/log/pino-logger.ts'
        createPinoLogger('info', false)[REQUEST_LINE](${JSON.stringify(completed)})
        ${end}`
      const args = ['--import', 'tsx', '--input-type=module', '-e', script]
      const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      expect(stdout).to.contain('"msg":"GET /notes/7 200 1.5 ms"')
    })
})
