import { randomUUID } from 'node:crypto'
import { NotFound, Unauthorized, type User } from 'mortar'
import { param, query } from '@mortar/database'
import type { DataSource, Repository } from 'typeorm'
import { Notes, type Note } from './schema.ts'

/** The fields of a note that its author writes. */
export interface NoteInput {
  readonly title: string
  readonly text: string
}

/** The fields that may change; an absent field keeps its value. */
export interface NoteChanges {
  readonly title?: string
  readonly text?: string
  readonly archived?: boolean
}

/** Which notes to list. */
export interface NoteFilter {
  readonly archived: boolean
  readonly limit: number
  readonly offset: number
}

/** The order of the index of `notes`, read backwards. */
const listNotes = query(Notes, {
  where: { owner_id: param('owner'), archived: param('archived') },
  order: { created_at: 'DESC', id: 'DESC' },
  limit: param('limit'),
  offset: param('offset'),
})

const findNote = query(Notes, { where: { id: param('id'), owner_id: param('owner') } })

/**
 * The notes of one user. Every statement carries the owner beside the id, so that another user's note is the same 404
 * as one that does not exist, and nothing can happen between a check and a change.
 */
export class NoteService {
  private readonly db: DataSource
  private readonly notes: Repository<Note>
  private readonly owner: string

  constructor(db: DataSource, user: User | null) {
    if (!user) throw new Unauthorized()
    this.db = db
    this.notes = db.getRepository(Notes)
    this.owner = user.id
  }

  async list({ archived, limit, offset }: NoteFilter): Promise<{ notes: Note[]; total: number }> {
    const { owner } = this
    const { rows, total } = await listNotes.page(this.db, { owner, archived, limit, offset })
    return { notes: rows, total }
  }

  async find(id: string): Promise<Note> {
    const note = await findNote.one(this.db, { id, owner: this.owner })
    if (!note) throw notFound(id)
    return note
  }

  async create(input: NoteInput): Promise<Note> {
    const now = new Date()
    const note = {
      id: randomUUID(),
      owner_id: this.owner,
      archived: false,
      created_at: now,
      updated_at: now,
      ...input,
    }
    // A copy, because some drivers write the returned row into the object, and MariaDB has no booleans.
    await this.notes.insert({ ...note })
    return note
  }

  async change(id: string, changes: NoteChanges): Promise<Note> {
    const { affected } = await this.notes.update(
      { id, owner_id: this.owner },
      { ...changes, updated_at: new Date() },
    )
    if (!affected) throw notFound(id)
    return this.find(id)
  }

  async remove(id: string): Promise<void> {
    const { affected } = await this.notes.delete({ id, owner_id: this.owner })
    if (!affected) throw notFound(id)
  }
}

function notFound(id: string): NotFound {
  return new NotFound(`There is no note ${id}.`)
}
