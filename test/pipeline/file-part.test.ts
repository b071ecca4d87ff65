import { once } from 'node:events'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { FilePart } from '../../src/pipeline/send-file/file-part.ts'

type Done = (error: Error | null, found: number, bytes: Buffer) => void
interface Read {
  readonly size: number
  readonly position: number
  readonly bytes: Buffer
  readonly done: Done
}

describe('A part of a file', () => {
  const real = { read: fs.read, close: fs.close }
  const calls: string[] = []
  let finishRead: () => void = () => undefined
  let onRead: (read: Read) => void = () => undefined
  let closeError: Error | undefined
  before(() => {
    const read = (_file: number, bytes: Buffer, ...rest: unknown[]): void => {
      calls.push('read')
      const [, size, position, done] = rest as [number, number, number, Done]
      finishRead = () => done(null, 3, bytes)
      onRead({ size, position, bytes, done })
    }
    const close = (_file: number, done: (error?: Error) => void): void => {
      calls.push('close')
      done(closeError)
    }
    Object.assign(fs, { read, close })
    syncBuiltinESMExports()
  })
  after(() => {
    Object.assign(fs, real)
    syncBuiltinESMExports()
  })
  beforeEach(() => {
    calls.splice(0)
    onRead = () => undefined
    closeError = undefined
  })

  it('closes its file after the read that is active, because another file would get its number', async () => {
    const part = new FilePart(7, { start: 0, end: 2 })
    part.read(0)
    part.destroy()
    await nextTurn()
    expect(calls).to.deep.equal(['read'])
    finishRead()
    await nextTurn()
    expect([calls, part.closed]).to.deep.equal([['read', 'close'], true])
  })

  it('closes its file immediately if nothing is read', async () => {
    const part = new FilePart(7, { start: 0, end: 2 })
    part.destroy()
    await nextTurn()
    expect([calls, part.closed]).to.deep.equal([['close'], true])
  })

  it('has its bytes in order when each read finds fewer than it asks for', async () => {
    const content = Buffer.from('abcdefghij')
    const asked: unknown[] = []
    onRead = ({ size, position, bytes, done }) => {
      asked.push([position, size])
      done(null, content.copy(bytes, 0, position, Math.min(position + 3, position + size)), bytes)
    }
    const chunks: Buffer[] = []
    for await (const chunk of new FilePart(7, { start: 2, end: 8 })) chunks.push(chunk as Buffer)
    expect(Buffer.concat(chunks).toString()).to.equal('cdefghi')
    expect(asked).to.deep.equal([
      [2, 7],
      [5, 4],
      [8, 1],
    ])
    expect(calls.filter((call) => call === 'close')).to.have.length(1)
  })

  it('fails with the error of its read, else with that of its close', async () => {
    const [failed, unclosed] = [new Error('EIO: i/o error'), new Error('EBADF: bad file descriptor')]
    for (const [readError, expected] of [
      [failed, failed],
      [null, unclosed],
    ] as const) {
      closeError = unclosed
      onRead = ({ bytes, done }) => done(readError, 3, bytes)
      const part = new FilePart(7, { start: 0, end: 2 })
      const [error] = (await once(part.resume(), 'error')) as [Error]
      expect(error).to.equal(expected)
    }
    expect(calls.filter((call) => call === 'close')).to.have.length(2)
  })

  it('fails with the number of bytes that were left of a shorter file', async () => {
    onRead = ({ position, bytes, done }) => done(null, position === 2 ? 3 : 0, bytes)
    const [error] = (await once(new FilePart(7, { start: 2, end: 8 }).resume(), 'error')) as [Error]
    expect(error.message).to.contain('A file of 7 bytes has only 3;')
  })
})
