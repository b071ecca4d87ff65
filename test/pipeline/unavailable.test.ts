import { mock } from 'node:test'
import { expect } from 'chai'
import { type App, createApp, createRouter, defineBrick, ServiceUnavailable, value } from 'mortar'
import { loggerTo } from '../app/recorder.ts'

type Line = readonly [level: string, fields: Record<string, unknown>, message: string]

describe('The log lines of a 503', () => {
  const lines: Line[] = []
  const logger = loggerTo((level, given) => {
    const [fields, message] = given as [Record<string, unknown>, string]
    if (level === 'error') lines.push([level, fields, message])
  })
  let app: App

  beforeEach(() => {
    lines.splice(0)
    mock.timers.enable({ apis: ['setTimeout'] })
  })
  afterEach(async () => {
    mock.timers.reset()
    await app.close()
  })

  const away = (): never => {
    const cause = new Error('connect ECONNREFUSED postgres://notes:secret@db')
    throw new ServiceUnavailable('The database is away.', { code: 'database_away', cause })
  }

  /** Requests a path this many times. @returns the statuses. */
  async function ask(path: string, times: number, headers = {}): Promise<readonly number[]> {
    const statuses: number[] = []
    for (let time = 0; time < times; time += 1)
      statuses.push((await app.inject({ method: 'GET', url: path, headers })).statusCode)
    return statuses
  }

  function createNotes(): App {
    return createApp({ environment: 'test', logger }).use(
      createRouter()
        .get('/away', away)
        .get('/other', () => {
          throw new ServiceUnavailable('Busy.')
        })
        .get('/broken', () => {
          throw new Error('A mistake.')
        }),
    )
  }

  const QUIET = { event: 'outage.continues', failing: [], back: [], reasons: [] }

  it('are one line for each cause and minute, with a number, without a stack', async () => {
    app = createNotes()
    expect(await ask('/away', 100)).to.deep.equal(Array.from({ length: 100 }, () => 503))
    await ask('/other', 2)
    expect(lines.map(([, { code }]) => code)).to.deep.equal(['database_away', 'service_unavailable'])
    const [[, fields, message]] = lines as [Line]
    expect(fields).to.include({ event: 'request.unavailable', method: 'GET', route: '/away', status: 503 })
    expect(fields).to.have.property('requestId').that.is.a('string')
    expect(message).to.equal(`Service unavailable (database_away): ${fields['reason'] as string}`)
    expect(message).to.include('ECONNREFUSED').and.not.include('secret').and.not.include('\n')

    mock.timers.tick(60_000)
    expect(lines.slice(2)).to.deep.equal([
      [
        'error',
        { ...QUIET, failures: { database_away: 99 } },
        'Further failures since the last line: database_away 99.',
      ],
      [
        'error',
        { ...QUIET, failures: { service_unavailable: 1 } },
        'Further failures since the last line: service_unavailable 1.',
      ],
    ])
    await ask('/away', 5)
    mock.timers.tick(60_000)
    expect(lines.slice(4).map(([, { failures }]) => failures)).to.deep.equal([{ database_away: 5 }])
    mock.timers.tick(60_000)
    await ask('/away', 1)
    expect(lines.slice(5).map(([, { code }]) => code)).to.deep.equal(['database_away'])
  })

  it('are one line for several codes of one reason, and another one when a minute has passed', async () => {
    app = createApp({ environment: 'test', logger }).use(
      createRouter()
        .get('/away', away)
        .get('/sessions', () => {
          const cause = new Error('connect ECONNREFUSED postgres://notes:secret@db')
          throw new ServiceUnavailable('Unknown sessions.', { code: 'sessions_unknown', cause })
        }),
    )
    await ask('/away', 1)
    await ask('/sessions', 2)
    expect(lines.map(([, { code }]) => code)).to.deep.equal(['database_away'])
    mock.timers.tick(60_000)
    expect(lines[1]![1]['failures']).to.deep.equal({ sessions_unknown: 2 })
    mock.timers.tick(60_000)
    await ask('/sessions', 1)
    expect(lines.at(-1)![1]['code']).to.equal('sessions_unknown')
  })

  it('report the rest when the application closes', async () => {
    app = createNotes()
    await ask('/away', 3)
    await app.close()
    expect(lines.map(([, { failures }]) => failures)).to.deep.equal([undefined, { database_away: 2 }])
    mock.timers.tick(600_000)
    expect(lines.length).to.equal(2)
  })

  it('leave other failures as they are', async () => {
    app = createNotes()
    expect(await ask('/broken', 3)).to.deep.equal([500, 500, 500])
    expect(lines.map(([, , message]) => message)).to.deep.equal(
      Array.from({ length: 3 }, () => 'Request failed'),
    )
    expect(lines[0]![1]).to.have.nested.property('err.stack')
  })

  it('are counted as a gauge by cause', async () => {
    app = createNotes()
    await ask('/away', 3)
    await ask('/other', 1)
    const { gauges } = app.services
    expect(gauges.all.get('mortar_unavailable_total')!.read()).to.deep.equal(
      new Map([
        ['database_away', 3],
        ['service_unavailable', 1],
      ]),
    )
  })

  it('are one line also if the body fails after its first bytes, by an error that a brick explains', async () => {
    const explained = new ServiceUnavailable('The database is away.', { code: 'database_away' })
    const explainError = (error: unknown) =>
      error instanceof Error && error.message === 'gone' ? explained : undefined
    app = createApp({ environment: 'test', logger })
      .use(defineBrick({ name: 'db', explainError }))
      .use(
        createRouter().get('/:error', async function* ({ params }) {
          yield 'part'
          throw params['error'] === 'explained' ? new Error('gone') : explained
        }),
      )
    for (const path of ['/explained', '/thrown', '/explained'])
      await app.inject(path).catch(() => 'The response is cut off.')
    expect(lines.map(([, { event, route }]) => [event, route])).to.deep.equal([
      ['request.unavailable', '/:error'],
    ])
    mock.timers.tick(60_000)
    expect(lines[1]![1]['failures']).to.deep.equal({ database_away: 2 })
  })

  describe('of a credential that cannot be evaluated', () => {
    const signIn = (fail: () => never) =>
      defineBrick({
        name: 'sign-in',
        services: { authenticator: value({ scheme: { type: 'http', scheme: 'bearer' }, identify: fail }) },
      })
    const guarded = (fail: () => never): App =>
      createApp({ environment: 'test', logger })
        .use(signIn(fail) as never)
        .use(
          createRouter()
            .get('/guarded', { auth: true }, () => 'in')
            .get('/public', () => 'open'),
        )
    const headers = { authorization: 'Bearer token' }

    it('are one line for guarded and public routes together', async () => {
      app = guarded(away)
      expect(await ask('/guarded', 20, headers)).to.deep.equal(Array.from({ length: 20 }, () => 503))
      expect(await ask('/public', 20, headers)).to.deep.equal(Array.from({ length: 20 }, () => 200))
      expect(lines.length).to.equal(1)
      await app.close()
      expect(lines[1]![1]['failures']).to.deep.equal({ database_away: 39 })
      const counts = app.services.gauges.all.get('mortar_unavailable_total')!.read()
      expect(counts).to.deep.equal(new Map([['database_away', 20]]))
    })

    it('are one line for each request after an unexpected failure', async () => {
      app = guarded(() => {
        throw new Error('A mistake.')
      })
      expect(await ask('/guarded', 2, headers)).to.deep.equal([500, 500])
      expect(lines.map(([, , message]) => message)).to.deep.equal([
        'The credential could not be evaluated',
        'The credential could not be evaluated',
      ])
    })
  })
})
