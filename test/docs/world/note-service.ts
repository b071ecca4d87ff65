import { NotFound, type User } from 'mortar'
import type { DataSource } from 'typeorm'
import { Notes, type Note } from './notes.ts'

export class NoteService {
  readonly #db: DataSource
  readonly #owner: string

  constructor(db: DataSource, user: User | null) {
    this.#db = db
    this.#owner = user?.id ?? ''
  }

  async find(id: string): Promise<Note> {
    const note = await this.#db.getRepository(Notes).findOneBy({ id, owner_id: this.#owner })
    if (!note) throw new NotFound(`There is no note ${id}.`)
    return note
  }

  async change(id: string, changes: { readonly title?: string | undefined }): Promise<Note> {
    return { ...(await this.find(id)), title: changes.title ?? '' }
  }
}
