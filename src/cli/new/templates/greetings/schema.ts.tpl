import { typeorm } from '@mortar/database'

/** A row of `greetings`. */
export interface Greeting {
  id: string
  name: string
  text: string
  created_at: Date
}

export const Greetings = new typeorm.EntitySchema<Greeting>({
  name: 'greetings',
  columns: {
    id: { type: String, length: 36, primary: true },
    name: { type: String, length: 40 },
    text: { type: String, length: 500 },
    created_at: { type: Date, precision: 3 },
  },
  indices: [{ columns: ['created_at'] }],
})
