/* The same task and answer as `generator.js`, done by autocannon. */
import autocannon from 'autocannon'

process.on('message', (task) => void run(task).then((result) => process.send(result)))
process.on('disconnect', () => process.exit(0))

async function run({ port, requests, status, connections, pipelining, seconds }) {
  const before = process.cpuUsage()
  const begin = performance.now()
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    pipelining,
    duration: seconds,
    requests: requests.map(({ method, path, headers, body, tail = '' }) => ({
      method,
      path,
      headers,
      body: body === undefined ? undefined : body + tail,
    })),
  })
  const elapsed = performance.now() - begin
  const used = process.cpuUsage(before)
  const wrong = Object.entries(result.statusCodeStats).filter(([code]) => code !== String(status))
  return {
    responses: result.requests.total,
    errors: result.errors + wrong.reduce((sum, [, { count }]) => sum + count, 0),
    seconds: elapsed / 1000,
    busy: (used.user + used.system) / 1000 / elapsed,
    p50: result.latency.p50,
    p99: result.latency.p99,
  }
}
