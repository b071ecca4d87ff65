/* Workload m: the rows of `notes`, the same in each database, and the list that every server must answer with. */
import { userOfToken } from '../data.js'

export const USERS = 500
/** Notes of a user that the list finds. */
export const OPEN = 99
/** Notes of a user that it does not. */
const ARCHIVED = 11
export const LIMIT = 20

const FIRST = Date.UTC(2026, 0, 1)
const TEXT =
  'Two bottles of milk, a loaf of bread and the batteries for the smoke alarm in the hall; ask about the café. '

/** The notes of one user, oldest first. */
export function notesOf(user) {
  return Array.from({ length: OPEN + ARCHIVED }, (_, index) => {
    const created = new Date(FIRST + (index * USERS + user) * 61_003)
    return {
      id: `9c1f4a52-7c1d-4f0e-9a3b-${String(user * 1000 + index).padStart(12, '0')}`,
      owner_id: userOfToken(user).id,
      title: `Note ${index} of user ${user}`,
      text: TEXT.repeat(1 + (index % 3)),
      archived: index % 10 === 9,
      created_at: created,
      updated_at: new Date(created.getTime() + 3_600_000),
    }
  })
}

/** The record behind `GET /notes?limit=20&offset=`. */
export function expectedList(user, offset) {
  const notes = notesOf(user)
    .filter(({ archived }) => !archived)
    .toReversed()
    .slice(offset, offset + LIMIT)
    .map(publicNote)
  return { notes, total: OPEN }
}

/** The six fields that leave the service, by hand. */
export function publicNote({ id, title, text, archived, created_at, updated_at }) {
  return { id, title, text, archived, created_at, updated_at }
}
