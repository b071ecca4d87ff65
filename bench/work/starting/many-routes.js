/* Routes with schemas of their own. Prints CPU in ms and memory in MB: of the schemas alone, and of the application that serves. */
import { get } from 'node:http'
import { object, string } from 'yup'
import { createApp, createRouter } from '../../../dist/src/index.js'

const router = createRouter()
const begin = process.cpuUsage()
for (let index = 0; index < Number(process.env.ROUTES); index++) {
  const params = object({ user: string().uuid().required(), item: string().uuid().required() })
  router.get(`/r${index}/:user/:item`, { params }, (ctx) => ctx.params)
}
const schemas = { cpu: cpuSince(begin), ...memory() }
const start = process.cpuUsage()
const { url } = await createApp({ logger: false }).use(router).listen(0, '127.0.0.1')
await new Promise((resolve) => {
  get(`${url}/r0/x/y`, { agent: false }, (response) => response.resume().once('end', resolve))
})
const application = { cpu: cpuSince(start), ...memory() }
process.stdout.write(JSON.stringify({ schemas, application }))
process.exit(0)

function cpuSince(before) {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function memory() {
  const { rss } = process.memoryUsage()
  globalThis.gc?.()
  return { rss: rss / 1e6, heap: process.memoryUsage().heapUsed / 1e6 }
}
