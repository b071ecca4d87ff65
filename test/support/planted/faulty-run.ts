import { createServer } from 'node:http'
import { skipSuite } from '../servers.ts'

describe('a run with faults', () => {
  it('passes', () => {})

  it('leaves a server open', (done) => {
    createServer().listen(0, '127.0.0.1', done)
  })

  it('rejects without a handler', () => {
    void Promise.reject(new Error('nobody listens'))
  })

  describe('a suite without its server', () => {
    skipSuite('NO_SERVER is not set')
    before(() => {
      throw new Error('a hook of a skipped suite ran')
    })
    it('is skipped', () => {})
  })
})
