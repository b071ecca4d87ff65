import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { FilePart } from '../../src/pipeline/send-file/file-part.ts'

describe('A part of a file', () => {
  const real = { read: fs.read, close: fs.close }
  const calls: string[] = []
  let finishRead: () => void = () => undefined
  before(() => {
    const read = (_file: number, bytes: Buffer, ...rest: unknown[]): void => {
      calls.push('read')
      finishRead = () => (rest.at(-1) as (error: null, found: number, bytes: Buffer) => void)(null, 3, bytes)
    }
    const close = (_file: number, done: () => void): void => {
      calls.push('close')
      done()
    }
    Object.assign(fs, { read, close })
    syncBuiltinESMExports()
  })
  after(() => {
    Object.assign(fs, real)
    syncBuiltinESMExports()
  })
  beforeEach(() => calls.splice(0))

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
})
