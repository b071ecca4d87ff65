import { mock } from 'node:test'
import { expect } from 'chai'
import { keptLog } from '../jobs/applications.ts'
import { rejection, startMailApp } from './mail-app.ts'

const MESSAGE = { to: 'ada@example.com', subject: 'Hello', text: 'Hi' }
const REJECTED = ['eve@example.com']
const away = (): Error => new Error('connect ECONNREFUSED for ada@example.com')
/** In place of a failure: no response at all. */
const silence = new Error('silence')
const refused = (): Error => Object.assign(new Error('550 no'), { responseCode: 550, permanent: true })

/** An application whose mail server fails with these errors first; the ids are those of the messages that it got. */
async function scene(failures: Error[]) {
  const ids: string[] = []
  const { logger, lines } = keptLog()
  const send = (
    { data }: { data: { messageId?: unknown } },
    done: (error: Error | null, info?: unknown) => void,
  ) => {
    ids.push(String(data.messageId))
    const failure = failures.shift()
    if (failure !== silence) done(failure ?? null, { rejected: REJECTED })
  }
  const transport = { name: 'failing', version: '1', send }
  const app = await startMailApp(
    { transport: transport as never },
    { logger, clock: { now: () => Date.now() } },
  )
  return { app, mailer: app.services.mailer, outbox: app.services.mailOutbox, ids, lines }
}

/** A message of 30 MiB. */
const largeMessage = () => ({
  ...MESSAGE,
  attachments: [{ filename: 'a', content: Buffer.alloc(30 * 1024 * 1024) }],
})

async function pass(milliseconds: number): Promise<void> {
  mock.timers.tick(milliseconds)
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
}

describe('A mail that could not be sent, without the jobs brick', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 0 }))
  afterEach(() => mock.timers.reset())

  it('is sent again after a second, then later and later, as the same message', async () => {
    const { app, mailer, outbox, ids, lines } = await scene([away(), away(), away()])
    const { id } = await mailer.send(MESSAGE)
    expect(outbox.list()).to.have.length(1)
    expect(outbox.list()[0]).to.include({ id, status: 'failed' })
    for (const [milliseconds, count] of [
      [999, 1],
      [1, 2],
      [3999, 2],
      [1, 3],
      [16_000, 4],
      [3_600_000, 4],
    ] as const) {
      await pass(milliseconds)
      expect(ids, `after ${milliseconds}`).to.have.length(count)
    }
    expect(new Set(ids)).to.deep.equal(new Set([`<${id}@example.com>`]))
    expect(outbox.list()).to.have.length(1)
    expect(outbox.list()[0]).to.include({ id, status: 'sent' })
    expect(JSON.stringify(lines)).not.to.contain('ada@example.com')
    await app.close()
  })

  it('is sent again if its server has not responded in time, and a refused recipient is a warning', async () => {
    const { app, mailer, ids, lines } = await scene([silence])
    const sending = mailer.send(MESSAGE)
    for (const milliseconds of [0, 30_000, 1000]) await pass(milliseconds)
    const { id } = await sending
    expect(ids).to.have.length(2)
    const warnings = lines.filter(({ level }) => level === 'warn').map(({ text }) => text)
    expect(warnings).to.include(`Mail ${id}: 1 of its recipients were refused.`)
    await app.close()
  })

  it('is given up after ten minutes, with a line in the log', async () => {
    const { app, mailer, ids, lines } = await scene(Array.from({ length: 100 }, away))
    const { id } = await mailer.send(MESSAGE)
    for (let minute = 0; minute < 60; minute++) await pass(60_000)
    expect(ids).to.have.length(7)
    const [line, ...others] = lines.filter(({ level }) => level === 'error')
    expect([line!.text, line!.fields['mail'], line!.fields['attempt'], ...others]).to.deep.equal([
      'A mail was not sent, and is lost: The mail was not sent: connect ECONNREFUSED for ***',
      id,
      7,
    ])
    await app.close()
    expect(ids).to.have.length(7)
  })

  it('rejects at the call if the server has refused it for good, and is lost if it does so later', async () => {
    const { app, mailer, ids, lines } = await scene([refused(), away(), refused()])
    expect(await rejection(mailer.send(MESSAGE))).to.include({ code: 'MAIL_NOT_SENT', permanent: true })
    await mailer.send(MESSAGE)
    await pass(1000)
    expect(lines.at(-1)).to.include({ level: 'error' })
    await pass(3_600_000)
    expect(ids).to.have.length(3)
    await app.close()
  })

  it('is sent once more when the application closes', async () => {
    const { app, mailer, ids, lines } = await scene([away(), away(), away()])
    await mailer.send(MESSAGE)
    await mailer.send(MESSAGE)
    await app.close()
    expect(ids).to.have.length(4)
    const [line, ...others] = lines.filter(({ level }) => level === 'error')
    expect(line!.text).to.include('lost mail 1')
    expect(others).to.deep.equal([])
    await pass(3_600_000)
    expect(ids).to.have.length(4)
  })

  it('waits beside others up to 64 MiB, rejects beyond, and makes room once it is sent', async () => {
    const failures = Array.from({ length: 4 }, away)
    const { app, mailer } = await scene(failures)
    const large = largeMessage()
    await mailer.send(large)
    await mailer.send(large)
    expect(await rejection(mailer.send(large))).to.include({ code: 'MAIL_NOT_SENT' })
    await mailer.send(MESSAGE)
    await pass(5000)
    failures.push(away())
    await mailer.send(large)
    await app.close()
  })

  it('keeps its place among a thousand others while it is tried again', async () => {
    const { app, mailer, ids } = await scene([away(), silence, ...Array.from({ length: 1000 }, away)])
    const { id } = await mailer.send(MESSAGE)
    for (const milliseconds of [1000, 29_500]) await pass(milliseconds)
    const others = await Promise.allSettled(Array.from({ length: 1000 }, () => mailer.send(MESSAGE)))
    const givenUp = others.filter(({ status }) => status === 'rejected')
    // Its second attempt ends without a response, and the third one succeeds.
    for (const milliseconds of [500, 4000]) await pass(milliseconds)
    expect(ids.filter((each) => each.includes(id))).to.have.length(3)
    expect(givenUp).to.have.length(1)
    await app.close()
  })

  it('takes no room if it was given up because a thousand others wait', async () => {
    const failures = Array.from({ length: 1003 }, away)
    const { app, mailer } = await scene(failures)
    for (let count = 0; count < 1000; count++) await mailer.send(MESSAGE)
    const large = largeMessage()
    for (let count = 0; count < 3; count++)
      expect((await rejection(mailer.send(large))).message).to.include('too many others wait')
    await pass(1000)
    failures.push(away())
    await mailer.send(large)
    await app.close()
  })

  it('rejects with its failure if the application closes meanwhile', async () => {
    const { app, mailer, ids, lines } = await scene([silence, away()])
    const sending = mailer.send(MESSAGE).catch((error: Error) => error.message)
    await pass(0)
    const late = mailer.send(MESSAGE).catch((error: Error) => error.message)
    const closing = app.close()
    await pass(30_000)
    expect(await Promise.all([sending, late])).to.deep.equal([
      'The mail was not sent: the transport took longer than 30 s.',
      'The mail was not sent: connect ECONNREFUSED for ***',
    ])
    await closing
    expect(ids).to.have.length(2)
    expect(lines.filter(({ level }) => level === 'error')).to.deep.equal([])
  })
})
