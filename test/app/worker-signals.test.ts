import { EventEmitter } from 'node:events'
import { expect } from 'chai'
import { closeAsWorker, RETIRE } from '../../src/app/life/worker-signals.ts'

describe('A worker of several', () => {
  let worker: EventEmitter
  let closed: number
  let remove: () => void
  beforeEach(() => {
    worker = new EventEmitter()
    closed = 0
    remove = closeAsWorker(() => (closed += 1), worker)
  })

  it('ignores SIGINT, which Ctrl+C sends to every process of a terminal', () => {
    expect(worker.listenerCount('SIGINT')).to.equal(1)
    worker.emit('SIGINT')
    worker.emit('SIGINT')
    expect(closed).to.equal(0)
  })

  it('closes on the first SIGTERM and ignores the second', () => {
    worker.emit('SIGTERM')
    worker.emit('SIGTERM')
    expect(closed).to.equal(1)
  })

  it('closes when another worker replaces it', () => {
    worker.emit('message', 'another message')
    expect(closed).to.equal(0)
    worker.emit('message', RETIRE)
    expect(closed).to.equal(1)
  })

  it('closes when the primary process is gone', () => {
    worker.emit('disconnect')
    expect(closed).to.equal(1)
  })

  it('keeps ignoring SIGINT after the application has closed', () => {
    remove()
    const left = Object.fromEntries(worker.eventNames().map((name) => [name, worker.listenerCount(name)]))
    expect(left).to.deep.equal({ SIGINT: 1 })
  })
})
