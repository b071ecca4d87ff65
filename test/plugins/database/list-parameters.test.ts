import { expect } from 'chai'
import { In, Not } from 'typeorm'
import { KINDS_AND_DRIVERS } from './databases.ts'
import { Notes } from './notes.ts'

for (const kind of ['SQLite', 'SQLite by libsql'])
  describe(`a list as one parameter of a statement on ${kind}`, () => {
    const place = KINDS_AND_DRIVERS[kind]!()

    it('is refused, so that it cannot move the values of other conditions', async () => {
      const source = await place().open([Notes])
      await source.synchronize()
      const where = { id: [1, 'ada'], text: Not([]) } as never
      const error = await source
        .getRepository(Notes)
        .findOneBy(where)
        .then(
          () => undefined,
          (reason: Error) => reason,
        )
      expect(error).to.be.an.instanceof(TypeError)
      expect(error?.message).to.contain('In([…])')
    })

    it('is refused in a raw query', async () => {
      const source = await place().open([Notes])
      const error = await source.query('select ? as one, ? as two', [[1, 2]]).then(
        () => undefined,
        (reason: Error) => reason,
      )
      expect(error).to.be.an.instanceof(TypeError)
    })

    it('works with In', async () => {
      const source = await place().open([Notes])
      await source.synchronize()
      expect(await source.getRepository(Notes).findBy({ text: In(['a', 'b']) })).to.deep.equal([])
    })
  })
