/* Prints what one import costs in a fresh process: `node bench/work/import-cost.js <specifier>`. */
const before = process.memoryUsage.rss()
const begin = performance.now()
await import(process.argv[2])
process.stdout.write(
  JSON.stringify({ ms: performance.now() - begin, bytes: process.memoryUsage.rss() - before }),
)
process.exit(0)
