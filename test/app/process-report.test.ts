import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { shareReport } from 'mortar/kit'
import { countKept } from '../support/collect-garbage.ts'
import type { ReportChannel, ReportMessage } from '../../src/app/life/process-report.ts'

/** The channel of a worker whose primary process has the reports `own` and `ended`. */
function openChannel(own: readonly string[], ended: readonly string[]) {
  const sent: string[] = []
  const responses: WeakRef<object>[] = []
  const listeners = new Set<(message: unknown) => void>()
  const channel: ReportChannel = {
    send(message: ReportMessage, _handle, _options, done) {
      sent.push(message.mortar)
      done()
      if (message.mortar !== 'report:collect') return
      const all = { ...message, mortar: 'report:all', reports: own, late: [], ended, revision: 1 }
      responses.push(new WeakRef(all))
      for (const listener of listeners) listener(all)
    },
    on: (_event, listener) => listeners.add(listener),
    off: (_event, listener) => listeners.delete(listener),
  }
  const receive = (message: ReportMessage): void => {
    for (const listener of listeners) listener(message)
  }
  return { channel, sent, responses, receive }
}

describe('shareReport() without combineEnded', () => {
  it('needs no options', async () => {
    const report = shareReport('a report', async () => 'own')
    expect(await report.collect()).to.deep.equal(['own'])
    await report.stop()
  })

  it('has the own report if the primary process has none of any worker', async () => {
    const { channel } = openChannel([], [])
    expect(await shareReport('a report', async () => 'own', { channel }).collect()).to.deep.equal(['own'])
  })

  it('responds to the primary process for its own name only, and not after its stop', async () => {
    const { channel, sent, receive } = openChannel([], [])
    const report = shareReport('a report', async () => 'own', { channel })
    for (const name of ['another', 'a report']) receive({ mortar: 'report:ask', name, id: 1 })
    await nextTurn()
    expect(sent).to.deep.equal(['report:offer', 'report:own'])
    await report.stop()
    receive({ mortar: 'report:ask', name: 'a report', id: 2 })
    await nextTurn()
    expect(sent).to.have.length(2)
  })

  it('has no reports of workers that have ended, and sends no last report', async () => {
    const { channel, sent } = openChannel(['own', 'other'], ['ended'])
    const report = shareReport('a report', async () => 'own', { channel })
    expect(await report.collect()).to.deep.equal(['own', 'other'])
    await report.stop()
    expect(sent).to.deep.equal(['report:offer', 'report:collect'])
  })
})

describe('shareReport() with a primary process that does not respond', () => {
  it('has the own report after 5 seconds', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const { channel, receive } = openChannel([], [])
    const silent: ReportChannel = { ...channel, send: (_message, _handle, _options, done) => done() }
    const report = shareReport('a report', async () => 'own', { channel: silent })
    let result: unknown
    const collected = report.collect().then((reports) => (result = reports))
    mock.timers.tick(4999)
    await nextTurn()
    expect(result).to.equal(undefined)
    mock.timers.tick(1)
    expect(await collected).to.deep.equal(['own'])
    receive({ mortar: 'report:all', name: 'a report', id: 1, reports: [], late: [], ended: [], revision: 1 })
    mock.timers.reset()
    await report.stop()
  })
})

describe('shareReport() in a process that is asked often', () => {
  it('keeps no response of the primary process', async () => {
    const { channel, responses } = openChannel(['own'], [])
    const report = shareReport('a report', async () => 'own', { channel })
    await report.collect()
    expect([responses.length, await countKept(responses)]).to.deep.equal([1, 0])
    await report.stop()
  })
})

describe('shareReport() with combineEnded', () => {
  it('sends back several last reports as one, and a single one not again', async () => {
    for (const [ended, isSent] of [
      [['e1', 'e2'], true],
      [['e1'], false],
      [[], false],
    ] as const) {
      const { channel, sent } = openChannel(['own'], ended)
      const combineEnded = async (reports: readonly string[]): Promise<string> => reports.join('+')
      const report = shareReport('a report', async () => 'own', { channel, combineEnded })
      expect(await report.collect()).to.deep.equal(['own', ...(ended.length > 0 ? [ended.join('+')] : [])])
      expect(sent.includes('report:combined'), String(ended)).to.equal(isSent)
      await report.stop()
    }
  })
})
