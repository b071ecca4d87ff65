import { join } from 'node:path'
import type { ConnectionOptions } from '@mortar/database'
import type { DataSource } from 'typeorm'
import { send, type Ask, type Reply } from '../acceptance/service.ts'
import type { TestDatabase } from '../../database/databases.ts'
import { takeProcess } from '../../../support/kept-process.ts'
import { entitiesOf } from './ending-features.ts'

/** A database of a server of MongoDB's protocol. */
export interface DocumentPlace {
  readonly type: 'document'
  readonly url: string
  readonly name: string
}

/** Settings of a process of the fleet. */
export interface MemberOptions {
  readonly connection: ConnectionOptions | DocumentPlace
  readonly limited?: boolean
  readonly redis?: string
  /** Cost of a hash in KiB. */
  readonly memory?: number
  /** Milliseconds by which the clock of its host is wrong. */
  readonly skew?: number
  readonly freshSession?: boolean
  /** Adds the features that end sessions: most sessions of a user. */
  readonly most?: number
}

/** Settings of a fleet: those of all processes, and those of the nth one. */
export interface FleetOptions extends Omit<MemberOptions, 'connection'> {
  readonly each?: (n: number) => Partial<MemberOptions>
}

/** Several processes that serve one database. */
export interface Processes {
  /** Addresses of the processes. */
  readonly urls: readonly string[]
  /** Posts to a process; `n` chooses it, by turns. */
  post(n: number, path: string, body?: unknown, headers?: Ask['headers']): Promise<Reply>
  get(n: number, path: string, headers?: Ask['headers']): Promise<Reply>
  delete(n: number, path: string, headers?: Ask['headers']): Promise<Reply>
  /** The same to all of them, read. */
  all<T>(path: string): Promise<T[]>
  /** Starts one process more. @returns its number. */
  join(): Promise<number>
  /** Kills the nth process, as the lack of memory does. */
  kill(n: number): Promise<void>
  stop(): Promise<void>
}

/** Processes on a relational database. */
export interface Fleet extends Processes {
  /** A connection of the test's own. */
  readonly source: DataSource
}

const MEMBER = join(import.meta.dirname, 'member.ts')

/** Starts `size` processes on a database, and makes its tables. */
export async function openFleet(
  place: TestDatabase,
  size: number,
  options: FleetOptions = {},
): Promise<Fleet> {
  const source = await place.open(entitiesOf(options.most))
  await source.synchronize()
  return { ...(await startProcesses(place.options(), size, options)), source }
}

/** Starts `size` processes on a database that is prepared. */
export async function startProcesses(
  connection: MemberOptions['connection'],
  size: number,
  { each = () => ({}), ...options }: FleetOptions = {},
): Promise<Processes> {
  const start = (more: Partial<MemberOptions>) => takeProcess(MEMBER, { ...options, connection, ...more })
  const members = await Promise.all(Array.from({ length: size }, (_, n) => start(each(n))))
  const urls = members.map(({ url }) => url)
  const add = async (): Promise<number> => {
    const member = await start({})
    members.push(member)
    return urls.push(member.url) - 1
  }
  const urlOf = (n: number): string => urls[n % urls.length]!
  return {
    urls,
    post: (n, path, body, headers) =>
      send(urlOf(n), 'POST', path, {
        ...(body !== undefined && { body }),
        ...(headers && { headers }),
      }),
    get: (n, path, headers) => send(urlOf(n), 'GET', path, headers && { headers }),
    delete: (n, path, headers) => send(urlOf(n), 'DELETE', path, headers && { headers }),
    all: async <T>(path: string) =>
      (await Promise.all(urls.map((url) => send(url, 'GET', path)))).map(({ body }) => body as T),
    join: add,
    kill: (n) => members[n]!.kill(),
    stop: async () => void (await Promise.all(members.map((member) => member.release()))),
  }
}
