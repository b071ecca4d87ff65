/*
 * Routes with three schemas of their own, made by the package that YUP names. Prints CPU in ms and memory in MB: of the
 * schemas alone, and of the application that serves.
 */
import { get } from 'node:http'
import { createApp, createRouter } from '../../../src/dist/index.js'

const { number, object, string } = await import(process.env.YUP)
const router = createRouter()
const begin = process.cpuUsage()
for (let index = 0; index < Number(process.env.ROUTES); index++) {
  const definition = {
    params: object({ id: number().integer().min(1).required() }),
    query: object({ page: number().integer().min(1).required(), q: string().required().max(50) }),
    response: {
      200: object({ id: number().required(), name: string().required(), email: string().required() }),
    },
  }
  router.get(`/r${index}/:id`, definition, (ctx) => ctx.params)
}
const schemas = { cpu: cpuSince(begin), ...memory() }
const start = process.cpuUsage()
const { url } = await createApp({ logger: false }).use(router).listen(0, '127.0.0.1')
await new Promise((resolve) => {
  get(`${url}/r0/x`, { agent: false }, (response) => response.resume().once('end', resolve))
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
