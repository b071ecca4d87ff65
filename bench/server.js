/*
 * One server under test in a process of its own: `node bench/server.js <peer> <app> <size>`. Tells its parent where it
 * listens, and answers `usage` with the CPU time it has used so far.
 */
const [peer, app, size] = process.argv.slice(2)
const begin = performance.now()
const { start } = await import(`./peers/${peer}.js`)
const { port, tokens = [] } = await start(app, Number(size))

process.on('message', (question) => {
  if (question !== 'usage') process.exit(0)
  const { user, system } = process.cpuUsage()
  process.send({ cpu: user + system, rss: process.memoryUsage.rss() })
})
process.on('disconnect', () => process.exit(0))
process.send({ port, tokens, startMs: performance.now() - begin })
