import { mock } from 'node:test'
import { expect } from 'chai'
import { createApp, defineBrick, ServiceUnavailable, type OutageFailure, type Outages } from 'mortar'
import { keptAfter } from '../support/collect-garbage.ts'
import { UNREADABLE } from '../support/unreadable-error.ts'
import { loggerTo } from './recorder.ts'

describe('The service outages', () => {
  let now = 0
  let outages: Outages
  const lines: { readonly at: number; readonly level: string; readonly text: string }[] = []
  const logger = loggerTo((level, given) => void lines.push({ at: now, level, text: String(given.at(-1)) }))
  const texts = (): readonly string[] => lines.map(({ level, text }) => `${level} ${text}`)

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] })
    lines.splice(0)
    now = 0
    outages = createApp({ environment: 'test', logger }).services.outages
  })
  afterEach(() => mock.timers.reset())

  function pass(seconds: number): void {
    for (let second = 0; second < seconds; second += 1) {
      now += 1
      mock.timers.tick(1000)
    }
  }

  function refused(port: number): Error {
    const error = new Error(`connect ECONNREFUSED 127.0.0.1:${port}`)
    return Object.assign(error, { code: 'ECONNREFUSED', address: '127.0.0.1', port })
  }

  const failure = (part: string, error: unknown): OutageFailure => ({
    part,
    error,
    message: `${part} failed`,
  })

  it('has a first line for each server, and one when all parts of it work again', () => {
    outages.begin(failure('db', refused(5432)))
    outages.begin(failure('limits', refused(6379)))
    outages.begin(failure('jobs', new Error('no address', { cause: refused(5432) })))
    outages.begin(failure('jobs', refused(6379)))
    outages.log(failure('request', refused(5432)))
    outages.end('limits')
    outages.end('db')
    expect(texts().length).to.equal(3)
    outages.end('jobs')
    outages.end('jobs')
    expect(texts()).to.deep.equal([
      'warn db failed: connect ECONNREFUSED 127.0.0.1:5432',
      'warn limits failed: connect ECONNREFUSED 127.0.0.1:6379',
      'info Works again: limits.',
      'info Works again: db, jobs. Further failures since the last line: request 1. Other reasons: no address',
    ])
  })

  it('joins an error without an address with the server of the moment, and shows its code once', () => {
    outages.begin(failure('sessions', new Error('Connection terminated')))
    outages.begin(failure('db', Object.assign(new Error('going away'), { code: '57P01' })))
    outages.begin(failure('jobs', refused(5432)))
    outages.begin(failure('limits', UNREADABLE))
    pass(60)
    expect(texts()).to.deep.equal([
      'warn sessions failed: Connection terminated',
      'warn db failed: going away',
      'warn Fails: sessions, db, jobs, limits. ' +
        'Other reasons: connect ECONNREFUSED 127.0.0.1:5432; An error that cannot be read was thrown.',
    ])
  })

  it('names what works again while another part fails, after a minute', () => {
    for (const part of ['db', 'disk']) outages.begin(failure(part, new Error('away')))
    outages.end('db')
    pass(60)
    expect(texts().slice(1)).to.deep.equal(['warn Works again: db. Fails: disk.'])
    pass(600)
    outages.end('disk')
    expect(texts().slice(2)).to.deep.equal(['info Works again: disk.'])
  })

  it('names no part as working that has failed again', () => {
    for (const part of ['db', 'disk']) outages.begin(failure(part, new Error('away')))
    outages.end('db')
    outages.begin(failure('db', new Error('away')))
    pass(60)
    expect(texts().slice(1).join(' ')).not.to.include('Works again')
  })

  it('writes at most three lines in any minute for a part that fails and recovers all the time', () => {
    for (let round = 0; round < 200; round += 1) {
      outages.begin(failure('db', refused(5432)))
      pass(1 + (round % 7))
      outages.end('db')
      pass(1 + (round % 5))
    }
    pass(61)
    for (const { at } of lines)
      expect(lines.filter((line) => line.at >= at && line.at < at + 60).length).to.be.at.most(3)
    expect(lines.length).to.be.greaterThan(10)
    expect(lines.at(-1)!.text).to.include('Works again: db.')
  })

  it('writes what has waited as soon as a line of the last minute is over', () => {
    const fail = (): void => outages.begin(failure('db', refused(5432)))
    fail()
    outages.log(failure('request', refused(5432)))
    pass(70)
    outages.end('db')
    pass(10)
    fail()
    outages.end('db')
    fail()
    pass(39)
    const count = lines.length
    expect(count).to.equal(4)
    pass(1)
    expect(texts().slice(count)).to.deep.equal(['warn Fails: db.'])
  })

  it('forgets a cause after a quiet minute', () => {
    for (let round = 0; round < 3; round += 1) {
      outages.log(failure('mail', new Error('away')))
      pass(121)
    }
    expect(texts()).to.deep.equal(Array.from({ length: 3 }, () => 'warn mail failed: away'))
  })

  it('keeps nothing of a cause after a quiet minute', async () => {
    const kept = await keptAfter((address) => {
      outages.log(failure('mail', Object.assign(new Error('away'), { address })))
      outages.begin(failure('db', Object.assign(new Error('away'), { address })))
      outages.end('db')
      pass(200)
    })
    expect(kept).to.be.below(5e6)
  })

  it('names three other reasons at most', () => {
    for (let number = 0; number < 9; number += 1)
      outages.begin(failure(`part ${number}`, new Error(`reason ${number}`)))
    pass(60)
    expect(texts()[1]).to.match(/Other reasons: reason 1; reason 2; reason 3$/)
    outages.end('part 0')
    pass(60)
    expect(texts()[2]).to.match(/^warn Works again: part 0\. Fails: part 1, .* part 8\.$/)
  })

  it('counts failures at the level of their own outage', () => {
    outages.begin(failure('db', new Error('away')))
    for (const level of ['error', 'warn'] as const) {
      for (let time = 0; time < 2; time += 1) outages.log({ ...failure('request', new Error('away')), level })
      pass(241)
    }
    expect(texts()).to.deep.equal([
      'warn db failed: away',
      'error Fails: db. Further failures since the last line: request 2.',
      'warn request failed: away',
      'warn Fails: db. Further failures since the last line: request 1.',
    ])
  })

  it('takes a decision for a cause of its own', () => {
    outages.begin(failure('db', refused(5432)))
    for (let times = 0; times < 2; times += 1)
      outages.log(failure('busy', new ServiceUnavailable('Too many wait.', { code: 'busy' })))
    expect(texts().slice(1)).to.deep.equal(['warn busy failed: Too many wait.'])
  })

  it('shows the failures of a brick that stops, before the process ends', async () => {
    const stop = ({ outages: service }: { readonly outages: Outages }): void => {
      for (let times = 0; times < 2; times += 1) service.log(failure('queue', new Error('away')))
    }
    const app = createApp({ environment: 'test', logger }).use(defineBrick({ name: 'queue', stop }))
    await app.ready()
    await app.close()
    expect(texts()).to.deep.equal([
      'warn queue failed: away',
      'warn Further failures since the last line: queue 1.',
    ])
  })

  it('shows no secret of an error, and works with errors that cannot be read', () => {
    outages.log(failure('db', new Error('connect postgres://notes:s3cret@db failed')))
    const odd = new Proxy(new Error('odd'), {
      get() {
        throw new Error('no')
      },
    })
    for (const thrown of [odd, null, 'text', { cause: { cause: 1 } }]) outages.log(failure('odd', thrown))
    const circle = new Error('circle')
    circle.cause = circle
    outages.log(failure('circle', circle))
    pass(60)
    expect(texts().join()).to.include('postgres://').and.not.include('s3cret')
    expect(texts().at(-1)).to.include('odd 4, circle 1')
  })
})
