import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { freePort } from '../support/free-port.ts'
import { createProject, type TestProject } from './project.ts'

const FILES = {
  'app.ts': `import { join } from 'node:path'
import { createApp, defineBrick, type TypedApp } from 'mortar'
import { database } from '@mortar/database'
import { jobs } from '@mortar/jobs'
import * as schema from '@mortar/jobs/schema'

const file = process.env.FILE ?? join(import.meta.dirname, 'data.db')
export const app = createApp({ logRequests: false, ...(process.env.SLOW && { shutdownTimeout: 0.2 }) })
  .use(database({ type: 'better-sqlite3', database: file, entities: schema, synchronize: true }))
  .use(jobs({ directory: new URL('./jobs', import.meta.url), run: false }))
if (process.env.SLOW) {
  const print = (word: string) => void process.stdout.write(word + '\\n')
  app.use(defineBrick({ name: 'first', stop: () => print('stopped') }))
  app.use(defineBrick({ name: 'slow', after: ['first'], start: () => (print('starting'), new Promise(() => {})) }))
}
`,
  'routes/orders.post.ts': `import { routesFor } from 'mortar'
import type { app } from '../app.ts'
import fails from '../jobs/fails.ts'
import greet from '../jobs/mail/greet.ts'

const route = routesFor<typeof app>()
export default route({}, async ({ jobs }) => {
  await jobs.add(fails)
  return jobs.add(greet, { name: 'Ada' })
})
`,
  'jobs/fails.ts': `import { job } from '@mortar/jobs'
export default job({ attempts: 1, concurrency: 2 }, () => { throw new Error('refused\\u001B[2J') })
`,
  'jobs/mail/greet.ts': `import { object, string } from 'yup'
import { job } from '@mortar/jobs'
export default job({ data: object({ name: string().required() }) }, ({ data }) => {
  process.stdout.write(\`Hello \${data.name} from \${import.meta.filename.endsWith('.js') ? 'the build' : 'a source'}\\n\`)
})
`,
  'jobs/nightly.ts': `import { job } from '@mortar/jobs'
export default job({ every: { cron: '0 3 * * *', timeZone: 'Europe/Berlin' } }, () => undefined)
`,
}

describe('jobs on the command line', () => {
  let project: TestProject
  let variables: Record<string, string>
  before(() => {
    project = createProject(FILES)
    variables = { NODE_ENV: 'production', FILE: join(project.directory, 'data.db') }
  })
  after(() => project.remove())

  const jobs = (...args: readonly string[]) => project.mortar(['jobs', ...args], { variables })

  it('are listed by mortar routes with their settings and files', () => {
    const { out } = project.mortar(['routes'])
    expect(out).to.match(/^JOB +SETTINGS +FILE$/m)
    expect(out).to.match(/^fails +attempts 1, timeout 900s, concurrency 2 +jobs\/fails\.ts$/m)
    expect(out).to.match(/^nightly +.*, every 0 3 \* \* \* Europe\/Berlin +jobs\/nightly\.ts$/m)
  })

  it('stop a build if one is broken', () => {
    project.write({ 'jobs/empty.ts': 'export {}\n' })
    const ran = project.mortar(['build'])
    rmSync(join(project.directory, 'jobs/empty.ts'))
    expect([ran.code, ran.err.includes('MORTAR_JOBS_FILE')], ran.err).to.deep.equal([1, true])
  })

  it('may be none yet: a build has their empty folder', () => {
    const own = Object.entries(FILES).filter(([file]) => !/^(?:jobs|routes)\//.test(file))
    const empty = createProject({ ...Object.fromEntries(own), 'jobs/.gitkeep': '' })
    const built = empty.mortar(['build'])
    empty.remove()
    expect(built.code, built.err).to.equal(0)
  })

  it('are compiled by a build, wait with run: false, run in mortar work, and are listed by mortar jobs', async () => {
    const built = project.mortar(['build'])
    expect(built.code, built.err).to.equal(0)
    const port = await freePort()
    const web = project.serve(['start'], { variables: { ...variables, PORT: String(port) } })
    await web.output.until(/listens at/)
    expect((await fetch(`http://127.0.0.1:${port}/orders`, { method: 'POST' })).status).to.equal(200)
    const listed = JSON.parse(jobs('list', '--json').out) as { counts: object; jobs: object[] }
    expect(listed.counts).to.include({ waiting: 2, running: 0, failed: 0 })
    expect(listed.jobs).to.have.lengthOf(2)

    const worker = project.serve(['work'], { variables })
    await worker.output.until(/Hello Ada from the build/)
    await worker.output.until(/Job failed for good/)
    expect(await worker.stop(), worker.output.text()).to.equal(0)
    expect(await web.stop()).to.equal(0)
    const slow = project.serve(['work'], { variables: { ...variables, SLOW: '1' } })
    await slow.output.until(/starting/)
    expect([await slow.stop(), slow.output.text()]).to.deep.equal([0, 'starting\nstopped\n'])
    const table = jobs('list', '--state', 'failed')
    expect([table.code, table.err]).to.deep.equal([0, ''])
    expect(table.out).to.match(/failed +fails .* Error: refused\uFFFD\[2J\n0 waiting, 0 running, 1 failed\n$/)
  })
})
