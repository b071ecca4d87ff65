import { deserialize, serialize, type Document } from 'bson'

/** A command of a client, and the format of its response. */
export interface Request {
  readonly id: number
  readonly command: Document
  /** Drivers open a connection with the old operation and speak OP_MSG from then on. */
  readonly operation: 'query' | 'message'
  readonly wantsReply: boolean
}

const HEADER = 16
const OP_REPLY = 1
const OP_QUERY = 2004
const OP_MSG = 2013
const MORE_TO_COME = 2
const CHECKSUM_PRESENT = 1
const LONGEST = 48_000_000

/** Splits received bytes into complete messages. @returns the messages, and the incomplete rest. */
export function takeMessages(arrived: Buffer): { readonly messages: Buffer[]; readonly rest: Buffer } {
  const messages: Buffer[] = []
  let rest = arrived
  while (rest.length >= 4) {
    const length = rest.readInt32LE(0)
    if (length < HEADER || length > LONGEST) throw new Error(`A message of ${length} bytes`)
    if (rest.length < length) break
    messages.push(rest.subarray(0, length))
    rest = rest.subarray(length)
  }
  return { messages, rest }
}

/** Reads OP_MSG and OP_QUERY. @throws for every other operation. */
export function readRequest(message: Buffer): Request {
  const id = message.readInt32LE(4)
  const operation = message.readInt32LE(12)
  if (operation === OP_MSG) return { id, operation: 'message', ...readMessage(message) }
  if (operation === OP_QUERY) return { id, operation: 'query', command: readQuery(message), wantsReply: true }
  throw new Error(`The operation ${operation}`)
}

/** The bytes of a response to that request. */
export function writeReply(request: Request, reply: Document): Buffer {
  const document = serialize(reply)
  const lead = request.operation === 'message' ? Buffer.alloc(HEADER + 5) : Buffer.alloc(HEADER + 20)
  lead.writeInt32LE(lead.length + document.length, 0)
  lead.writeInt32LE(request.id, 8)
  lead.writeInt32LE(request.operation === 'message' ? OP_MSG : OP_REPLY, 12)
  if (request.operation === 'query') lead.writeInt32LE(1, lead.length - 4)
  return Buffer.concat([lead, document])
}

function readMessage(message: Buffer): Pick<Request, 'command' | 'wantsReply'> {
  const flags = message.readUInt32LE(HEADER)
  const end = message.length - (flags & CHECKSUM_PRESENT ? 4 : 0)
  const command: Document = {}
  let at = HEADER + 4
  while (at < end) {
    const kind = message[at]
    const length = message.readInt32LE(at + 1)
    const section = message.subarray(at + 1, at + 1 + length)
    // Kind 1 is a named list of documents that belongs to the command, such as the documents of an insert.
    Object.assign(command, kind === 0 ? deserialize(section) : readSequence(section))
    at += 1 + length
  }
  return { command, wantsReply: (flags & MORE_TO_COME) === 0 }
}

function readSequence(section: Buffer): Document {
  const nameEnd = section.indexOf(0, 4)
  const documents: Document[] = []
  for (let at = nameEnd + 1; at < section.length; at += section.readInt32LE(at))
    documents.push(deserialize(section.subarray(at, at + section.readInt32LE(at))))
  return { [section.toString('utf8', 4, nameEnd)]: documents }
}

function readQuery(message: Buffer): Document {
  const nameEnd = message.indexOf(0, HEADER + 4)
  const database = message.toString('utf8', HEADER + 4, nameEnd).split('.')[0]
  return { ...deserialize(message.subarray(nameEnd + 9)), $db: database }
}
