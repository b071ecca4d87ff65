import { EntitySchema } from 'typeorm'

export interface Note {
  id: string
  owner_id: string
  title: string
  text: string
  createdAt: Date
}

export const Notes = new EntitySchema<Note>({
  name: 'notes',
  columns: {
    id: { type: String, primary: true },
    owner_id: { type: String },
    title: { type: String },
    text: { type: String },
    createdAt: { type: Date },
  },
})

export const Accounts = new EntitySchema<{ id: string; balance: number }>({
  name: 'accounts',
  columns: { id: { type: String, primary: true }, balance: { type: Number } },
})
