import { expect } from 'chai'
import { createDataSource } from '../../../plugins/database/drivers/data-source.ts'
import { poolShare } from '../../../plugins/database/drivers/pool-share.ts'
import { processVariables } from '../../../src/support/env/environment.ts'

describe('The connection pool of several processes', () => {
  const variables = processVariables()
  afterEach(() => {
    delete variables['FRAMEWORK_PROCESSES']
  })

  it('is ten connections divided by the number of processes, and at least two', () => {
    const sizes = [2, 3, 4, 8, 64].map((count) => poolShare({ count, number: 1 }).poolSize)
    expect(sizes).to.deep.equal([5, 3, 2, 2, 2])
  })

  it('is left to the driver for a single process', () => {
    expect(poolShare({ count: 1, number: 1 })).to.deep.equal({})
  })

  for (const type of ['postgres', 'mysql', 'mariadb'] as const)
    it(`is passed to TypeORM for ${type}, unless the application sets poolSize`, () => {
      variables['FRAMEWORK_PROCESSES'] = '4'
      const size = (options: { readonly poolSize?: number }): unknown =>
        createDataSource({ type, url: `${type}://user@127.0.0.1/db`, ...options }).options.poolSize
      expect(size({})).to.equal(2)
      expect(size({ poolSize: 7 })).to.equal(7)
    })
})
