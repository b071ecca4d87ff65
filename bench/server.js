/*
 * One server under test in a process of its own: `node bench/server.js <peer> <app> <size>`. Tells its parent where it
 * listens, and answers `usage` with its CPU time so far and `heap` with the bytes that remain after a collection.
 */
const [peer, app, size] = process.argv.slice(2)
const begin = performance.now()
const { start } = await import(`./peers/${peer}.js`)
const { port, tokens = [] } = await start(app, Number(size))

process.on('message', (question) => {
  if (question === 'stop') process.exit(0)
  if (question === 'heap') return answer(heapAfterCollection())
  const { user, system } = process.cpuUsage()
  answer({ cpu: user + system, rss: process.memoryUsage.rss() })
})
process.on('disconnect', () => process.exit(0))

function heapAfterCollection() {
  globalThis.gc()
  globalThis.gc()
  return { heap: process.memoryUsage().heapUsed, rss: process.memoryUsage.rss() }
}

answer({ port, tokens, startMs: performance.now() - begin })

/** In an envelope, because a framework may send messages of its own. */
function answer(value) {
  process.send({ answer: value })
}
