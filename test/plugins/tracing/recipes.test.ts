import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as Sentry from '@sentry/core'
import { ServerRuntimeClient } from '@sentry/core/server'
import { expect } from 'chai'
import { BadRequest, createApp, createRouter, ServiceUnavailable } from 'mortar'
import { reportErrors } from '../../fixtures/tracing/report-errors.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures/tracing')
const DOCS = readFileSync(join(import.meta.dirname, '../../../docs/tracing.md'), 'utf8')

describe('The recipes of docs/tracing.md', () => {
  // The subscription of `reportErrors` stays, and must not report the errors of the next files of this process.
  after(() => Sentry.getCurrentScope().setClient(undefined))

  for (const name of ['instrumentation.ts', 'report-errors.ts'])
    it(`contain ${name} as it is tested here`, () => {
      expect(DOCS).contain(`\`\`\`ts\n${readFileSync(join(FIXTURES, name), 'utf8')}\`\`\``)
    })

  it('export spans of an ES module with --import, and no byte of a credential', function spawned() {
    const args = ['--import', 'tsx', '--conditions=source', '--import', join(FIXTURES, 'instrumentation.ts')]
    const { stdout, stderr } = spawnSync(process.execPath, [...args, join(FIXTURES, 'server.ts')], {
      encoding: 'utf8',
    })
    expect(stderr).equal('')
    expect(stdout)
      .contain("name: 'GET /notes/:id'")
      .contain("'http.route': '/notes/:id'")
      .not.contain('SECRET')
  })

  it('report an unexpected error once to Sentry, and no error that the application throws on purpose', async () => {
    const sent: Sentry.Event[] = []
    const client = new ServerRuntimeClient({
      dsn: 'https://key@127.0.0.1/1',
      integrations: [],
      stackParser: () => [],
      transport: (options) => Sentry.createTransport(options, async () => ({ statusCode: 200 })),
      beforeSend(event) {
        sent.push(event)
        return event
      },
    })
    Sentry.setCurrentClient(client)
    client.init()
    reportErrors(Sentry)
    const app = createApp({ environment: 'production', logger: false }).use(
      createRouter()
        .get('/notes/:id', () => {
          throw new TypeError('boom')
        })
        .get('/bad', () => {
          throw new BadRequest('no')
        })
        .get('/busy', () => {
          throw new ServiceUnavailable()
        }),
    )
    for (const url of ['/notes/7?access_token=SECRET', '/bad', '/busy', '/nothing'])
      await app.inject({ url, headers: { 'x-request-id': 'request-1' } })
    await app.close()
    await client.flush(2000)
    expect(sent).length(1)
    expect(sent[0]).deep.include({
      transaction: 'GET /notes/:id',
      tags: { route: '/notes/:id', request_id: 'request-1' },
    })
    expect(sent[0]?.exception?.values?.[0]).include({ type: 'TypeError', value: 'boom' })
    expect(JSON.stringify(sent)).not.contain('SECRET')
  })
})
