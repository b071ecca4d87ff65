// A worker that blocks as soon as it has responded to its first connection.
import { createServer } from 'node:net'

createServer((socket) =>
  socket.write('x', () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }),
).listen(0, '127.0.0.1')
