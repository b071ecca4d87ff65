import type { PasswordAuthOptions, ConnectedPasswordProvider } from '@mortar/auth/basic'
import type { AuthProvider } from '../../../../plugins/auth/provider.ts'
import type { AnyBrick } from 'mortar'
import type { Interruptions } from './interruptions.ts'

/** One record, as `{ id, email, password_hash, … }` whatever the database calls its key. */
// oxlint-disable-next-line typescript/no-explicit-any -- a test asserts on what it expects to find
export type Row = any

/** Operations of a world's storage. */
export interface StorageOptions {
  /** One that outlives the process and may be opened twice; a name is one that another world has opened. */
  readonly file?: true | string
  /** Leaves the tables out. */
  readonly withoutTables?: boolean
  /** Adds the tables of features. */
  readonly withFeatures?: boolean
  /** Adds the columns `role`, `subscribed`, `settings` and the hidden `totp_secret` to the users. */
  readonly ownColumns?: boolean
}

/** Storage of one world. */
export interface Storage {
  readonly file: string
  readonly bricks: readonly AnyBrick[]
  readonly interruptions: Interruptions
  provider(options: PasswordAuthOptions): AuthProvider<ConnectedPasswordProvider>
  users(): Promise<Row[]>
  sessions(): Promise<Row[]>
  resetTokens(): Promise<Row[]>
  /** The rows of a table of a feature. */
  rows(table: string): Promise<Row[]>
  /** Changes every user behind the application's back. */
  changeUsers(change: Record<string, unknown>): Promise<unknown>
  /** Lets every process forget the ended sessions, of which only the records in the table are left. */
  forgetEnds(): Promise<unknown>
  deleteUsers(): Promise<unknown>
  renameColumn(table: string, from: string, to: string): Promise<unknown>
  remove(): Promise<unknown>
}

/** A store of accounts that the tests of the endpoints run on. */
export interface StorageVariant {
  readonly name: string
  open(options: StorageOptions): Promise<Storage>
  start?(): Promise<unknown>
  stop?(): Promise<unknown>
}
