/*
 * The `_id` of a user is text (a UUID of a signup) or an ObjectId, which most existing collections have. The identity of
 * an ObjectId is its 24 hexadecimal digits. Text with the same digits is possible too, so both are looked up, and a
 * collection that has both is refused: otherwise one user could become the other.
 */
import type * as Mongo from 'mongodb'
import { hasPeer, loadPeer, type PeerNeed } from 'mortar/kit'

const need: PeerNeed = {
  of: "the brick 'auth'",
  peers: { from: import.meta.url, packages: ['mongodb'] },
}

const HEX = /^[0-9a-f]{24}$/

/** True for an identity that may belong to an ObjectId. */
export function isObjectIdText(id: unknown): id is string {
  return typeof id === 'string' && HEX.test(id)
}

/** Returns the filter of `_id` for the identity of a user. */
export function userKey(id: string): object {
  if (!isObjectIdText(id) || !hasPeer('mongodb', need)) return { $eq: id }
  const { ObjectId } = loadPeer<typeof Mongo>('mongodb', need)
  return { $in: [id, new ObjectId(id)] }
}

/**
 * Returns the identity of a document of `auth_users`.
 * @throws Error for an `_id` of another type.
 */
export function identityOf(id: unknown): string {
  if (typeof id === 'string') return id
  if (isObjectId(id)) return id.toHexString()
  throw new Error(
    `A document of auth_users has an _id of the type ${typeOf(id)}. Its _id must be text or an ObjectId.`,
  )
}

function isObjectId(id: unknown): id is { toHexString(): string } {
  const { _bsontype, toHexString } = (id ?? {}) as { _bsontype?: unknown; toHexString?: unknown }
  return _bsontype === 'ObjectId' && typeof toHexString === 'function'
}

function typeOf(id: unknown): string {
  const { _bsontype } = (id ?? {}) as { _bsontype?: unknown }
  return typeof _bsontype === 'string' ? _bsontype : id === null ? 'null' : typeof id
}
