import type { Document } from 'bson'
import type { Cursors } from './cursors.ts'
import type { Databases } from './databases.ts'

/** The state that a command works on. */
export interface ServerState {
  readonly databases: Databases
  readonly cursors: Cursors
}

/** Commands by name: from the state and the command's document to its response. A command's document has any shape. */
export type CommandTable = Record<string, (state: ServerState, command: Document) => Document>
