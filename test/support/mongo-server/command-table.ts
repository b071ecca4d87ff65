import type { Document } from 'bson'
import type { Cursors } from './cursors.ts'
import type { Databases } from './databases.ts'

/** Milliseconds by which the clocks of a server are ahead of this process. They are two where it is two programs. */
export interface Clocks {
  /** The program that the driver talks to, which answers `hello`. */
  frontEnd: number
  /** The program that stores documents, which performs `$currentDate`. */
  database: number
}

/** The state that a command works on. */
export interface ServerState {
  readonly clocks: Clocks
  readonly databases: Databases
  readonly cursors: Cursors
}

/** Commands by name: from the state and the command's document to its response. A command's document has any shape. */
export type CommandTable = Record<string, (state: ServerState, command: Document) => Document>
