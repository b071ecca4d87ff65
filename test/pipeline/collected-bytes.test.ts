import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import type { RequestContext } from '../../src/context/request-context.ts'
import type { HttpError } from '../../src/errors/http-error.ts'
import { readBytes } from '../../src/pipeline/read-bytes.ts'
import { collectGarbage } from '../support/collect-garbage.ts'

/** Reads a body that arrives by calls of `push`. */
function reading(limit: number, headers: Record<string, string> = {}) {
  const req = Object.assign(new Readable({ read: () => undefined }), { headers, complete: false })
  const ctx = { internal: { req } } as unknown as RequestContext
  const result = Promise.resolve(readBytes(ctx, limit, (content) => content.length)).catch(
    (error: unknown) => (error as HttpError).status,
  )
  return { req, result }
}

async function turns(): Promise<string> {
  for (let turn = 0; turn < 20; turn++) await nextTurn()
  return 'waiting'
}

describe('The bytes of a body that arrives in pieces', () => {
  it('are joined while they arrive, so that pieces of one byte need little memory', async () => {
    const { req, result } = reading(1_000_000)
    await turns()
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    for (let piece = 0; piece < 200_000; piece++) {
      req.push(Buffer.from('x'))
      if (piece % 1000 === 0) await nextTurn()
    }
    await turns()
    collectGarbage()
    expect(process.memoryUsage().heapUsed - before).to.be.below(5e6)
    req.push(null)
    expect(await result).to.equal(200_000)
  })

  it('are refused before their end if they are compressed and far above the limit', async () => {
    const { req, result } = reading(1000, { 'content-encoding': 'gzip' })
    await turns()
    for (let piece = 0; piece < 100; piece++) {
      req.push(randomBytes(1000))
      await nextTurn()
    }
    expect(await Promise.race([result, turns()])).to.equal(413)
  })

  it('may be larger than the limit by what compression adds to random bytes', async () => {
    for (const [limit, size, expected] of [
      [100_000, 100_000, 100_000],
      [100_000, 100_001, 413],
      [4_000_000, 4_000_000, 4_000_000],
      [4_000_000, 4_000_001, 413],
    ] as const) {
      const { req, result } = reading(limit, { 'content-encoding': 'gzip' })
      const packed = gzipSync(randomBytes(size))
      expect(packed.length).to.be.above(limit)
      for (let at = 0; at < packed.length; at += 9999) req.push(packed.subarray(at, at + 9999))
      req.push(null)
      expect(await result).to.equal(expected)
    }
  })
})
