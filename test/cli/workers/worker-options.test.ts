import { EventEmitter } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { mock } from 'node:test'
import { expect } from 'chai'
import { handleSignals } from '../../../src/cli/workers/primary-signals.ts'
import {
  LEAST_STUCK,
  readMaxMemory,
  readTimeOrOff,
  readWorkerCount,
} from '../../../src/cli/workers/worker-options.ts'

describe('The number of workers', () => {
  it('comes from --workers, else from WORKERS, else there are no workers', () => {
    expect(readWorkerCount('3', { WORKERS: '2' })).to.equal(3)
    expect(readWorkerCount(undefined, { WORKERS: '2' })).to.equal(2)
    expect(readWorkerCount(undefined, { WORKERS: '' })).to.equal(undefined)
    expect(readWorkerCount(undefined, {})).to.equal(undefined)
  })

  describe('for auto', () => {
    const { availableParallelism } = os
    const setCores = (count: () => number): void => {
      os.availableParallelism = count
      syncBuiltinESMExports()
    }
    afterEach(() => setCores(availableParallelism))

    for (const [cores, count] of [
      [1, 1],
      [3, 3],
      [256, 256],
      [257, 256],
    ] as const)
      it(`is ${count} on a machine with ${cores} cores`, () => {
        setCores(() => cores)
        expect(readWorkerCount('auto', {})).to.equal(count)
        expect(readWorkerCount(undefined, { WORKERS: 'auto' })).to.equal(count)
      })
  })

  it('is refused in a runtime with a part of node:cluster', () => {
    for (const [key, name] of Object.entries({ bun: 'Bun', deno: 'Deno' })) {
      Object.defineProperty(process.versions, key, { value: '9.9.9', configurable: true })
      try {
        expect(() => readWorkerCount('2', {})).to.throw(`${name} cannot run several workers.`)
        expect(readWorkerCount(undefined, {})).to.equal(undefined)
      } finally {
        Reflect.deleteProperty(process.versions, key)
      }
    }
  })

  for (const wrong of ['0', '-1', 'abc', '1e3', '1.5', '', '257', ' 2', 'AUTO'])
    it(`cannot be '${wrong}'`, () => {
      expect(() => readWorkerCount(wrong, {})).to.throw(/--workers is '.*', not a whole number from 1 to 256/)
      if (wrong !== '')
        expect(() => readWorkerCount(undefined, { WORKERS: wrong })).to.throw(/WORKERS is not/)
    })
})

describe('The limits of workers', () => {
  it('are times or off, and a size', () => {
    const read = (given: string) => readTimeOrOff('stuck-after', given, LEAST_STUCK)
    expect(['2s', '1m', 'off'].map(read)).to.deep.equal([2, 60, undefined])
    expect(readMaxMemory(undefined)).to.equal(undefined)
    expect([readMaxMemory('512mb'), readMaxMemory('1.5GB')]).to.deep.equal([512 * 1024 ** 2, 1.5 * 1024 ** 3])
  })

  for (const wrong of ['0s', '1s', '10', 'never', '25d', ''])
    it(`cannot be --stuck-after '${wrong}'`, () =>
      expect(() => readTimeOrOff('stuck-after', wrong, LEAST_STUCK)).to.throw(
        /--stuck-after is '.*'\. Write a time from 2s up to 24h/,
      ))

  for (const wrong of ['0mb', '512', 'much', '-1mb', ''])
    it(`cannot be --max-memory '${wrong}'`, () =>
      expect(() => readMaxMemory(wrong)).to.throw(/--max-memory is '.*', not a size such as '512mb'/))
})

describe('The signals of the primary process', () => {
  const calls: string[] = []
  const primary = {
    stop: (how: string) => void calls.push(how),
    reload: () => void calls.push('reload'),
    kill: () => void calls.push('kill'),
  }
  afterEach(() => calls.splice(0))

  it('are SIGTERM and SIGINT to close, and SIGHUP and SIGUSR2 to reload', () => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2']) {
      const source = new EventEmitter()
      handleSignals(primary, source)
      source.emit(signal)
    }
    expect(calls).to.deep.equal(['stop', 'close', 'reload', 'reload'])
  })

  it('include the SIGHUP of a closed terminal, which closes', () => {
    const source = new EventEmitter()
    handleSignals(primary, source, () => true)
    source.emit('SIGHUP')
    expect(calls).to.deep.equal(['close'])
  })

  it('end all workers immediately when a second one arrives more than a tenth of a second later', () => {
    let now = 0
    const time = mock.method(performance, 'now', () => now)
    const source = new EventEmitter()
    const code = handleSignals(primary, source)
    source.emit('SIGINT')
    now = 100
    source.emit('SIGINT')
    expect([calls, code()]).to.deep.equal([['close'], undefined])
    now = 101
    source.emit('SIGINT')
    time.mock.restore()
    expect([calls, code()]).to.deep.equal([['close', 'kill'], 130])
  })
})
