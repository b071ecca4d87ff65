import { expect } from 'chai'
import { MongoClient, type Db } from 'mongodb'
import { documentFindings } from '../../../../plugins/auth-document/doctor.ts'
import { reach } from '../../../../plugins/auth-document/reach.ts'
import { failureOf } from '../support/failure-of.ts'

/** The database of a client that has another name for `topology`. */
function renamed(client: MongoClient): Db {
  const without = (target: object, name: string, value?: unknown) =>
    new Proxy(target, {
      get(of, key) {
        const member: unknown = key === name ? value : Reflect.get(of, key)
        // The driver itself knows the name.
        return typeof member === 'function' ? (member.bind(of) as unknown) : member
      },
    })
  return without(client.db(), 'client', without(client, 'topology')) as Db
}

describe('A driver of MongoDB whose client has another name for its topology', () => {
  const open = () => new MongoClient('mongodb://127.0.0.1:1/accounts', { serverSelectionTimeoutMS: 300 })

  it('is refused with the reason that the driver gives', async () => {
    const client = open()
    const error = await failureOf(() => reach(renamed(client)))
    expect(error.code).to.equal('MORTAR_AUTH_UNREACHABLE')
    expect(error.message).to.include(
      'cannot be used: MongoServerSelectionError: connect ECONNREFUSED 127.0.0.1:1',
    )
    await client.close()
  })

  it('is examined by doctor, which closes what it has opened', async () => {
    const client = open()
    const [finding] = await documentFindings(renamed(client))
    expect(finding).to.include({ code: 'MORTAR_AUTH_UNREACHABLE' })
  })
})
