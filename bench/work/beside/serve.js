/** Runs one server of a file here in a process of its own: `node serve.js <file> <server>`. See `bench/beside.ts`. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

const [, , file, name] = process.argv
const { servers } = await import(file)
const { port, act } = await servers[name]()

process.on('message', (number) => {
  if (number >= 0) return void act(number)
  const { user, system } = process.cpuUsage()
  collectGarbage()
  process.send({ heap: process.memoryUsage().heapUsed, cpu: user + system })
})
process.send(port)
