// Runs commands of `mortar` one after another in one process: a process for each would spend its time on loading the same
// packages. Argument: the folder of the built framework. Each line of the standard input is a command, a JSON object
// `{ args, directory, variables, reply }`; its result `{ code, out, err }` is written to the file `reply`.
import { renameSync, writeFileSync } from 'node:fs'
import Module from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const framework = process.argv[2]
const program = join(framework, 'mortar/dist/cli/main.js')

// A directory's modules may have changed since its last command, so the next command imports them under other URLs.
const round = new Int32Array(new SharedArrayBuffer(4))
const rounds = new Map()
const fixed = [pathToFileURL(framework).href, new URL('../../node_modules/', import.meta.url).href]
const hooks = `let round, fixed
export const initialize = (data) => void ([round, fixed] = data)
export const resolve = async (specifier, context, next) => {
  const found = await next(specifier, context)
  if (round[0] === 0 || !found.url.startsWith('file:') || fixed.some((start) => found.url.startsWith(start))) return found
  return { ...found, url: found.url + (found.url.includes('?') ? '&' : '?') + 'round=' + round[0] }
}`
const { register } = Module
register(`data:text/javascript,${encodeURIComponent(hooks)}`, { data: [round, fixed] })

// The first command that needs tsx registers it, and those that follow must not do so again.
Module.register = (...given) => {
  process.execArgv = ['--import', 'tsx']
  return register(...given)
}

let end
process.exit = (code) => end(code ?? process.exitCode ?? 0)
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error) => {
    process.stderr.write(`${error?.stack ?? error}\n`)
    end(1)
  })

let written
for (const name of ['stdout', 'stderr'])
  process[name].write = (chunk, encoding, callback) => {
    written[name] += Buffer.from(chunk).toString()
    const done = typeof encoding === 'function' ? encoding : callback
    if (done) process.nextTick(done)
    return true
  }

let count = 0
for await (const line of createInterface({ input: process.stdin })) {
  const { args, directory, variables, reply } = JSON.parse(line)
  round[0] = rounds.get(directory) ?? 0
  rounds.set(directory, round[0] + 1)
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, variables)
  process.chdir(directory)
  process.argv = [process.execPath, program, ...args]
  process.exitCode = undefined
  written = { stdout: '', stderr: '' }
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error')
  const globals = new Set(Reflect.ownKeys(globalThis))
  const ended = new Promise((resolve) => {
    end = resolve
  })
  await import(`${pathToFileURL(program).href}?command=${++count}`)
  const result = { code: await ended, out: written.stdout, err: written.stderr }
  // `mortar console` defines a global name for each service.
  const added = args[0] === 'console' ? Reflect.ownKeys(globalThis).filter((name) => !globals.has(name)) : []
  for (const name of added) Reflect.deleteProperty(globalThis, name)
  writeFileSync(`${reply}.partial`, JSON.stringify(result))
  renameSync(`${reply}.partial`, reply)
}
// Without `process.exit`, which is replaced.
process.kill(process.pid, 'SIGKILL')
