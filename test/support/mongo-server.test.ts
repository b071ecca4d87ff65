import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { expect } from 'chai'
import { ObjectId, type Collection, type Document } from 'mongodb'
import { onEachMongo, openDatabase } from './mongo.ts'
import { startMongoServer } from './mongo-server/server.ts'

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

async function codeOf(operation: Promise<unknown>): Promise<unknown> {
  return operation.then(
    () => 'no failure',
    (error: { code?: unknown }) => error.code,
  )
}

// Also run on a MongoDB if there is one, to show that the stand-in behaves like MongoDB.
onEachMongo('the official driver', (server) => {
  const inCollection = (body: (collection: Collection) => Promise<unknown>) => async () => {
    const { db, close } = await openDatabase(server())
    await body(db.collection('things')).finally(() => close())
  }

  it(
    'gets values of every kind back as they were',
    inCollection(async (things) => {
      const _id = new ObjectId()
      const thing = { _id, at: new Date(123), none: null, list: [1, 2.5, { deep: 'ü' }], yes: true }
      await things.insertOne(thing)
      expect(await things.findOne({ _id })).to.deep.equal(thing)
      expect(await things.findOne({ at: { $lt: new Date(124), $gt: new Date(122) } })).to.deep.equal(thing)
      expect(await things.findOne({ 'list.deep': 'ü' }, { projection: { yes: 1 } })).to.deep.equal({
        _id,
        yes: true,
      })
    }),
  )

  it(
    'finds a string in a list too, and beside other conditions on its field and on others',
    inCollection(async (things) => {
      const all = [
        { _id: 'a' as never, tag: 'x', n: 1 },
        { _id: 'b' as never, tag: ['y', 'x'], n: 2 },
        { _id: 'c' as never, tag: null, n: 3 },
        { _id: 'd' as never, tag: { in: 'x' }, n: 4 },
        { _id: 'e' as never, n: 5 },
      ]
      await things.insertMany(all)
      const idsOf = async (filter: Document, options = {}) =>
        (await things.find(filter, options).toArray()).map(({ _id }) => String(_id)).join('')
      for (const x of ['x', { $eq: 'x' }]) {
        expect(await idsOf({ tag: x })).to.equal('ab')
        expect(await idsOf({ tag: x }, { limit: 1 })).to.equal('a')
        expect(await idsOf({ tag: x }, { skip: 1, limit: 1 })).to.equal('b')
        expect(await idsOf({ tag: x }, { sort: { n: -1 } })).to.equal('ba')
        expect(await idsOf({ tag: x, n: { $gt: 1 } })).to.equal('b')
        expect(await idsOf({ tag: x, n: 1 })).to.equal('a')
      }
      expect(await idsOf({ tag: { $eq: 'x', $ne: 'y' } })).to.equal('a')
      expect(await idsOf({ 'tag.in': 'x' })).to.equal('d')
      expect(await idsOf({ tag: 'z' })).to.equal('')
      expect(await idsOf({}, { skip: 1, limit: 3 })).to.equal('bcd')
    }),
  )

  it(
    'sets whole fields, and parts of fields',
    inCollection(async (things) => {
      await things.insertOne({ _id: 'a' as never, deep: { one: 1, two: 2 }, n: 1 })
      await things.updateOne({ _id: 'a' as never }, { $set: { n: 2, more: { three: 3 } } })
      await things.updateOne({ _id: 'a' as never }, { $set: { 'deep.two': 4 }, $inc: { n: 1 } })
      await things.updateOne({ _id: 'a' as never }, { $set: { 'deep.one': 5, n: 6 } })
      const [found] = await things.find().toArray()
      expect(found).to.deep.equal({ _id: 'a', deep: { one: 5, two: 4 }, n: 6, more: { three: 3 } })
      expect(await codeOf(things.updateOne({}, { $set: { _id: 'b' } }))).to.equal(66)
    }),
  )

  it(
    'reads more documents than fit into one response, in order',
    inCollection(async (things) => {
      await things.insertMany(range(250).map((n) => ({ n })))
      const found = await things.find().sort({ n: -1 }).batchSize(40).toArray()
      expect(found.map(({ n }: Document) => n as number)).to.deep.equal(range(250).toReversed())
      expect(await things.find({ n: { $in: [1, 2, 3] } }, { skip: 1, limit: 1, sort: { n: 1 } }).toArray())
        .to.have.length(1)
        .and.have.nested.property('[0].n', 2)
      expect(await things.countDocuments({ n: { $gte: 200 } })).to.equal(50)
    }),
  )

  it(
    'lets one of 20 simultaneous insertions of a unique key win',
    inCollection(async (things) => {
      await things.createIndexes([{ key: { email: 1 }, unique: true }])
      const results = await Promise.allSettled(range(20).map(() => things.insertOne({ email: 'a' })))
      expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1)
      expect(await codeOf(things.insertOne({ email: 'a' }))).to.equal(11_000)
      await things.insertOne({ email: 'b' })
      expect(await codeOf(things.updateOne({ email: 'b' }, { $set: { email: 'a' } }))).to.equal(11_000)
      expect(await things.countDocuments({ email: 'b' })).to.equal(1)
    }),
  )

  it(
    'counts 100 simultaneous increments, and returns each value once',
    inCollection(async (things) => {
      await things.insertOne({ n: 0 })
      const after = { returnDocument: 'after' } as const
      const results = await Promise.all(
        range(100).map(() => things.findOneAndUpdate({}, { $inc: { n: 1 } }, after)),
      )
      const seen = results.map((result) => result?.['n'] as number).toSorted((one, other) => one - other)
      expect(seen).to.deep.equal(range(100).map((n) => n + 1))
    }),
  )

  it(
    'receives the counts of matched, modified, inserted and removed documents',
    inCollection(async (things) => {
      const upsert = await things.updateOne(
        { key: 'a' },
        { $set: { v: 1 }, $setOnInsert: { made: 1 } },
        { upsert: true },
      )
      expect([upsert.matchedCount, upsert.upsertedCount]).to.deep.equal([0, 1])
      expect(await things.findOne({ _id: upsert.upsertedId! })).to.include({ key: 'a', v: 1, made: 1 })
      const same = await things.updateOne({ key: 'a' }, { $set: { v: 1 } })
      expect([same.matchedCount, same.modifiedCount]).to.deep.equal([1, 0])
      expect((await things.replaceOne({ key: 'a' }, { key: 'b' })).modifiedCount).to.equal(1)
      expect(await things.findOneAndDelete({ key: 'a' })).to.equal(null)
      expect((await things.deleteMany({ key: 'b' })).deletedCount).to.equal(1)
    }),
  )

  it(
    'rejects an index that the documents violate, and the indexes of a missing collection',
    inCollection(async (things) => {
      expect(await codeOf(things.indexes())).to.equal(26)
      await things.insertMany([{ a: 1 }, { a: 1 }])
      expect(await codeOf(things.createIndexes([{ key: { a: 1 }, unique: true }]))).to.equal(11_000)
      expect(await things.indexes()).to.have.length(1)
    }),
  )
})

describe('the stand-in for MongoDB', () => {
  it('names an unknown command', async () => {
    const server = await startMongoServer()
    const { db, close } = await openDatabase(server)
    expect(await codeOf(db.command({ fly: 1 }))).to.equal(59)
    await close()
    await server.close()
  })

  it('ends a connection with another protocol, and continues with others', async () => {
    const server = await startMongoServer()
    const socket: Socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\n\r\n')
    await once(socket, 'close')
    const { db, close } = await openDatabase(server)
    expect(await db.command({ ping: 1 })).to.include({ ok: 1 })
    await close()
    await server.close()
  })
})
