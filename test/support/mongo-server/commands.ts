import type { Document } from 'bson'
import { CommandError } from './command-error.ts'
import type { CommandTable, ServerState } from './command-table.ts'
import { WRITE_COMMANDS } from './write-commands.ts'

/** MongoDB 7.0. */
const WIRE_VERSION = 21

const READ_COMMANDS: CommandTable = {
  hello,
  isMaster: hello,
  ismaster: hello,
  ping: () => ({ ok: 1 }),
  endSessions: () => ({ ok: 1 }),
  buildInfo: () => ({ version: '7.0.0', versionArray: [7, 0, 0, 0], modules: [], standIn: true, ok: 1 }),

  find({ databases, cursors }, { find, filter = {}, batchSize, singleBatch, $db, ...options }) {
    const documents = databases.read($db, find).find(filter, options)
    return cursors.start(`${$db}.${find}`, documents, batchSize, singleBatch)
  },

  aggregate({ databases, cursors }, { aggregate, pipeline, cursor, $db }) {
    const name = typeof aggregate === 'string' ? aggregate : '$cmd.aggregate'
    return cursors.start(`${$db}.${name}`, databases.read($db, name).aggregate(pipeline), cursor?.batchSize)
  },

  getMore: ({ cursors }, { getMore, batchSize }) => cursors.next(getMore, batchSize),
  killCursors: ({ cursors }, { cursors: ids }) => cursors.kill(ids),

  count({ databases }, { count, query = {}, skip, limit, $db }) {
    return { n: databases.read($db, count).find(query, { skip, limit }).length, ok: 1 }
  },

  distinct({ databases }, { distinct, key, query = {}, $db }) {
    const pipeline = [{ $match: query }, { $unwind: `$${key}` }, { $group: { _id: `$${key}` } }]
    return {
      values: databases
        .read($db, distinct)
        .aggregate(pipeline)
        .map(({ _id }) => _id),
      ok: 1,
    }
  },

  listIndexes({ databases, cursors }, { listIndexes, $db }) {
    return cursors.start(`${$db}.${listIndexes}`, databases.demand($db, listIndexes).indexes.list())
  },

  listCollections({ databases, cursors }, { filter = {}, $db }) {
    const names = [...databases.collections($db).keys()]
    const all = names.map((name) => ({ name, type: 'collection', options: {}, info: { readOnly: false } }))
    return cursors.start(
      `${$db}.$cmd.listCollections`,
      all.filter(({ name }) => !filter.name || filter.name === name),
    )
  },

  listDatabases({ databases }) {
    return { databases: databases.names().map((name) => ({ name, empty: false })), ok: 1 }
  },
}

const COMMANDS: CommandTable = { ...READ_COMMANDS, ...WRITE_COMMANDS }

/** Runs a command, whose name is its first key. @returns the response, also for a failure. */
export function runCommand(state: ServerState, command: Document): Document {
  const [name = ''] = Object.keys(command)
  try {
    const run = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    if (!run) throw new CommandError(59, `no such command: '${name}'`)
    return run(state, command)
  } catch (error) {
    const known = error instanceof CommandError ? error : new CommandError(2, String(error))
    return known.toReply()
  }
}

function hello({ clocks }: ServerState): Document {
  return {
    helloOk: true,
    ismaster: true,
    isWritablePrimary: true,
    maxBsonObjectSize: 16_777_216,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    localTime: new Date(Date.now() + clocks.frontEnd),
    logicalSessionTimeoutMinutes: 30,
    minWireVersion: 0,
    maxWireVersion: WIRE_VERSION,
    readOnly: false,
    ok: 1,
  }
}
