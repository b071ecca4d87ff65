import { expectedList, LIMIT, OPEN, USERS } from '../work/notes/rows.js'
import { forged, get, range } from './requests.ts'
import type { WireRequest, Workload } from './workload.ts'

/** Peers of workload m, under `bench/peers/notes`. */
export const NOTE_SERVERS = [
  'raw',
  'mortar',
  'fastify',
  'fastify-drizzle',
  'fastify-typeorm',
  'nest-typeorm',
  'adonis-lucid',
] as const

/** Workload m, on each database. */
export const notes: readonly Workload[] = [
  notesWorkload('sqlite', 'SQLite'),
  notesWorkload('postgres', 'PostgreSQL'),
]

function notesWorkload(database: 'sqlite' | 'postgres', name: string): Workload {
  const list = (token: string, offset: number | string): WireRequest =>
    get(`/notes?limit=${LIMIT}&offset=${offset}`, { authorization: `Bearer ${token}` })
  return {
    id: `m:${database}`,
    title: `GET a user's notes, 20 of ${OPEN} and their count, on ${name}, with a bearer token`,
    app: database,
    size: USERS,
    folder: 'notes',
    peers: NOTE_SERVERS,
    setUp: async () => {
      const { createNotesDatabase } = await import('../notes-database.ts')
      return createNotesDatabase(database)
    },
    requests: (tokens) =>
      range(OPEN - LIMIT + 1).flatMap((offset) => tokens.map((token) => list(token, offset))),
    checks: (tokens) => [
      ...[0, 7, USERS - 1].flatMap((user) =>
        [0, 1, OPEN - LIMIT].map((offset) => ({
          request: list(tokens[user]!, offset),
          status: 200,
          json: expectedList(user, offset),
        })),
      ),
      { request: get('/notes?limit=20'), status: 401 },
      { request: list(tokens[0]!, -1), status: 422 },
      { request: list(tokens[0]!, 'x'), status: 422 },
      { request: list(forged(tokens[0]!), 0), status: 401 },
    ],
  }
}
