/*
 * One server without a network: requests go into node:http over streams in memory, so that the time is the work of
 * Node and of the server alone. Takes `{ requests, seconds }` after its first message and answers with the nanoseconds of
 * a request in each short block.
 */
import { Server } from 'node:net'
import { Duplex } from 'node:stream'
import { wireOf } from '../load/wire.js'

const CONNECTIONS = 8
const BLOCK = 2000

const [peer, app, size] = process.argv.slice(2)
let server
const { listen } = Server.prototype
Server.prototype.listen = function listenAndTell(...args) {
  server = this
  return listen.apply(this, args)
}
const { start } = await import(`../peers/${peer}.js`)
const { tokens = [] } = await start(app, Number(size))
process.once('message', (task) => void run(task).then((blocks) => process.send(blocks)))
process.on('disconnect', () => process.exit(0))
process.send({ tokens })

class Wire extends Duplex {
  remoteAddress = '127.0.0.1'
  answered = () => {}

  _read() {}

  _write(chunk, encoding, done) {
    this.answered()
    done()
  }

  _writev(chunks, done) {
    this.answered()
    done()
  }

  setTimeout() {
    return this
  }
}

async function run({ requests, seconds }) {
  const wires = requests.map((request) => Buffer.from(wireOf(request), 'latin1'))
  const connections = Array.from({ length: CONNECTIONS }, () => {
    const connection = new Wire()
    server.emit('connection', connection)
    return connection
  })
  const blocks = []
  let sent = 0
  const end = performance.now() + seconds * 1000
  while (performance.now() < end || blocks.length < 10) {
    const begin = process.hrtime.bigint()
    for (let done = 0; done < BLOCK; done += CONNECTIONS) {
      await oneOnEach(connections, wires, sent)
      sent += CONNECTIONS
    }
    blocks.push(Number(process.hrtime.bigint() - begin) / BLOCK)
  }
  return blocks
}

function oneOnEach(connections, wires, from) {
  return new Promise((resolve) => {
    let open = connections.length
    for (const [index, connection] of connections.entries()) {
      connection.answered = () => {
        if (--open === 0) setImmediate(resolve)
      }
      connection.push(wires[(from + index) % wires.length])
    }
  })
}
