// An idle process with or without the jobs brick, for `bench/jobs.ts`. Sends the CPU time of a stretch, in milliseconds.
import { setTimeout as wait } from 'node:timers/promises'
import { createApp } from 'mortar'
import { database, fromUrl } from '@mortar/database'
import { jobs } from '@mortar/jobs'
import * as schema from '@mortar/jobs/schema'

const [, , url, kind, milliseconds] = process.argv
const entities = kind === 'with' ? schema : []
const app = createApp({ environment: 'production', logger: false, signals: false }).use(
  database({ ...fromUrl(url ?? ''), entities }),
)
if (kind === 'with') app.use(jobs({ directory: new URL('./jobs', import.meta.url) }))
await app.ready()
// What the start has left is done by then.
await wait(3000)
const begun = process.cpuUsage()
await wait(Number(milliseconds))
const { user, system } = process.cpuUsage(begun)
process.send!((user + system) / 1000, undefined, undefined, () => process.exit())
