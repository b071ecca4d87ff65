import { randomUUID } from 'node:crypto'
import { NotFound, Unauthorized, type User } from 'mortar'
import type { DataSource, Repository } from 'typeorm'
import { Notes, type Note } from './schema.ts'

/** What a note consists of for the one who writes it. */
export interface NoteInput {
  readonly title: string
  readonly text: string
}

/** What may change; what is undefined stays. */
export interface NoteChanges {
  readonly title?: string | undefined
  readonly text?: string | undefined
  readonly archived?: boolean | undefined
}

/** Which notes to list. */
export interface NoteFilter {
  readonly archived: boolean
  readonly limit: number
  readonly offset: number
}

/**
 * The notes of one user. Every statement carries the owner beside the id, so that another user's note is the same 404
 * as one that does not exist, and nothing can happen between a check and a change.
 */
export class NoteService {
  private readonly notes: Repository<Note>
  private readonly owner: string

  constructor(db: DataSource, user: User | null) {
    if (!user) throw new Unauthorized()
    this.notes = db.getRepository(Notes)
    this.owner = user.id
  }

  async list({ archived, limit, offset }: NoteFilter): Promise<{ notes: Note[]; total: number }> {
    const [notes, total] = await this.notes.findAndCount({
      where: { owner_id: this.owner, archived },
      order: { created_at: 'DESC', id: 'ASC' },
      take: limit,
      skip: offset,
    })
    return { notes, total }
  }

  async find(id: string): Promise<Note> {
    const note = await this.notes.findOneBy({ id, owner_id: this.owner })
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
    // A copy, because some drivers write what the database gave back into the object, and MariaDB has no booleans.
    await this.notes.insert({ ...note })
    return note
  }

  async change(id: string, changes: NoteChanges): Promise<Note> {
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
    const { affected } = await this.notes.update(
      { id, owner_id: this.owner },
      { ...given, updated_at: new Date() },
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
