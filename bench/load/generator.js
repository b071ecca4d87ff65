/*
 * The load generator: a process that keeps a number of connections busy, each with so many requests under way. It reads
 * no more of a response than its status and its length, so that it is faster than any server it measures.
 * Messages: `{ prepare: key, bytes, ends, tails, tailOf }` keeps requests for one server or more, `{ forget: true }` drops all of
 * them, and `{ key, port, status, connections, pipelining, seconds }` is answered with what was counted.
 */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

process.on('message', (task) => {
  if (task.forget) forget()
  else if (task.prepare !== undefined) prepared.set(task.prepare, requestsOf(task))
  else void run(task).then((result) => process.send(result))
})
process.on('disconnect', () => process.exit(0))

const MICROSECONDS = 10
const BUCKETS = 500_000

/** By key, a function that returns a request by its index. */
const prepared = new Map()

/** By port of a server, a function that returns its next request. */
const rows = new Map()

function forget() {
  prepared.clear()
  rows.clear()
}

async function run({ key, port, status, connections, pipelining, seconds }) {
  const tally = {
    responses: 0,
    statuses: {},
    errors: 0,
    stopped: false,
    latencies: new Uint32Array(BUCKETS),
    failure: undefined,
  }
  const before = process.cpuUsage()
  const begin = performance.now()
  if (!rows.has(port)) rows.set(port, inTurn(prepared.get(key)))
  const nextWire = rows.get(port)
  const clients = Array.from({ length: connections }, () =>
    keepBusy({ port, nextWire, status: String(status), pipelining, tally }),
  )
  await sleep(seconds * 1000)
  // A server that is too slow for the round gets some time more, so that it has a figure at all.
  for (let more = 0; more < 20 && tally.responses < connections; more++) await sleep(seconds * 500)
  const responses = tally.responses
  const elapsed = performance.now() - begin
  const used = process.cpuUsage(before)
  tally.stopped = true
  for (const client of clients) client.destroy()
  return {
    responses,
    errors: tally.errors,
    statuses: tally.statuses,
    failure: tally.failure,
    seconds: elapsed / 1000,
    busy: (used.user + used.system) / 1000 / elapsed,
    p50: percentile(tally.latencies, responses, 0.5),
    p99: percentile(tally.latencies, responses, 0.99),
  }
}

/** All connections and rounds of a server share one sequence, so a request repeats only after all others. */
function inTurn({ count, request }) {
  let next = 0
  return () => request(next++ % count)
}

function requestsOf({ bytes, ends, tails, tailOf }) {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).latin1Slice()
  const endings = tails.map((tail) => Buffer.from(tail).latin1Slice())
  const request = (index) => {
    const own = text.slice(index === 0 ? 0 : ends[index - 1], ends[index])
    return tailOf[index] === -1 ? own : own + endings[tailOf[index]]
  }
  return { count: ends.length, request }
}

/** One connection that always has `pipelining` requests under way. */
function keepBusy({ port, nextWire, status, pipelining, tally }) {
  const sent = new Float64Array(pipelining)
  const read = createReader()
  let first = 0
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => send(pipelining))

  function send(count) {
    let text = ''
    for (let each = 0; each < count; each++) text += nextWire()
    const now = performance.now()
    for (let each = 0; each < count; each++) sent[(first + pipelining - count + each) % pipelining] = now
    socket.write(text, 'latin1')
  }

  socket.on('data', (chunk) => {
    const codes = read(chunk)
    if (codes.length === 0 || tally.stopped) return
    const now = performance.now()
    for (const code of codes) {
      if (code !== status) {
        tally.errors++
        tally.statuses[code] = (tally.statuses[code] ?? 0) + 1
      }
      tally.responses++
      const bucket = Math.floor(((now - sent[first]) * 1000) / MICROSECONDS)
      tally.latencies[bucket < BUCKETS ? bucket : BUCKETS - 1]++
      first = (first + 1) % pipelining
    }
    send(codes.length)
  })
  const fail = (reason) => {
    if (tally.stopped) return
    tally.errors++
    tally.failure ??= reason
  }
  socket.on('error', (error) => fail(error.message))
  socket.on('close', () => fail('the server closed a connection'))
  return socket
}

const HEAD_END = Buffer.from('\r\n\r\n')
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n')
const COLON = 58

/** @returns a function that accepts bytes and returns the status codes of the responses that they complete */
function createReader() {
  let rest
  let lengthAt = 0

  /** The digits of Content-Length are at the same place in each response of a server, so they are searched for once. */
  function bodyLength(bytes, start, headEnd) {
    const digits = start + lengthAt
    if (
      lengthAt === 0 ||
      bytes[digits - 2] !== COLON ||
      bytes[digits - 3] !== 104 ||
      bytes[digits - 9] !== 45
    ) {
      const match = /\r\ncontent-length: *(?=\d)/i.exec(bytes.latin1Slice(start, headEnd))
      if (match === null) return -1
      lengthAt = match.index + match[0].length
    }
    let length = 0
    for (let at = start + lengthAt; bytes[at] >= 48 && bytes[at] <= 57; at++)
      length = length * 10 + bytes[at] - 48
    return length
  }

  return (chunk) => {
    const bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk])
    const codes = []
    let start = 0
    while (start < bytes.length) {
      const headEnd = bytes.indexOf(HEAD_END, start)
      if (headEnd === -1) break
      const length = bodyLength(bytes, start, headEnd)
      const last = length === -1 ? bytes.indexOf(LAST_CHUNK, headEnd) : -1
      const end = length === -1 ? (last === -1 ? Number.POSITIVE_INFINITY : last + 7) : headEnd + 4 + length
      if (end > bytes.length) break
      codes.push(bytes.latin1Slice(start + 9, start + 12))
      start = end
    }
    rest = start < bytes.length ? bytes.subarray(start) : undefined
    return codes
  }
}

/** In milliseconds. */
function percentile(buckets, count, share) {
  let seen = 0
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    seen += buckets[bucket]
    if (seen >= count * share) return ((bucket + 0.5) * MICROSECONDS) / 1000
  }
  return Number.NaN
}
