import { array, boolean, date, number, object, string } from 'mortar/yup'

/** A note as it leaves the service. */
export const noteSchema = object({
  id: string().required(),
  title: string().required(),
  text: string().defined(),
  archived: boolean().required(),
  created_at: date().required(),
  updated_at: date().required(),
}).label('Note')

/** A page of notes. */
export const noteList = object({
  notes: array(noteSchema).required(),
  total: number().required(),
}).label('NoteList')

/** A note as it is written. */
export const noteInput = object({
  title: string().trim().required().max(200),
  text: string().defined().max(20_000),
})
  .noUnknown()
  .label('NoteInput')

/** Some of a note, to change it. */
export const noteChanges = object({
  title: string().trim().min(1).max(200),
  text: string().max(20_000),
  archived: boolean(),
})
  .noUnknown()
  .label('NoteChanges')

/** The note that a path names. */
export const noteParams = object({ id: string().required() })
