import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { APP, route, startDev } from './dev-server.ts'
import { createProject } from './project.ts'

/** Listens, and never ends. */
const ENDLESS = `import { join } from 'node:path'
import { env, loadRoutes } from 'mortar'
import { app } from './app.ts'

await loadRoutes(app, join(import.meta.dirname, 'routes'))
const { url } = await app.listen(env.port('PORT'), '127.0.0.1')
process.stdout.write(\`listens at \${url}\\n\`)
await new Promise(() => undefined)
`

describe('mortar dev, while server.ts has not ended', () => {
  it('serves requests, and follows a change', async () => {
    const files = { 'app.ts': APP, 'server.ts': ENDLESS, 'routes/index.get.ts': route('one') }
    const server = await startDev(files, /listens at/)
    try {
      expect((await server.get()).body.text).to.equal('one')
      server.project.write({ 'routes/index.get.ts': route('two') })
      await server.until('/', ({ body: { text } }) => text === 'two')
    } finally {
      expect(await server.serving.stop(), server.serving.output.text()).to.equal(0)
      server.project.remove()
    }
  })
})

describe('mortar dev, with a process that is killed', () => {
  it('responds on a connection that the process had not accepted', async () => {
    const server = await startDev({ 'app.ts': APP, 'routes/index.get.ts': route('one') })
    try {
      const pid = (await server.get()).body.pid!
      process.kill(pid, 'SIGSTOP')
      const answers = [server.get(), server.get()]
      // For the watching process to pass on both. If it is slower, the test shows nothing.
      await pause(200)
      process.kill(pid, 'SIGKILL')
      for (const { status } of await Promise.all(answers)) expect(status).to.equal(503)
      expect(server.serving.output.text()).to.include('The application ended')
    } finally {
      await server.serving.stop()
      server.project.remove()
    }
  })
})

/** Writes its number into a file, and has something that keeps its process. */
const KEPT = `import { renameSync, writeFileSync } from 'node:fs'
import { createApp } from 'mortar'

setInterval(() => undefined, 1000)
writeFileSync('pid.new', String(process.pid))
renameSync('pid.new', 'pid')
`

describe('The process that mortar dev has started', () => {
  for (const [when, files] of [
    [
      'the application is still imported',
      { 'app.ts': `${KEPT}await new Promise(() => undefined)\nexport const app = createApp()\n` },
    ],
    [
      'a brick still starts',
      {
        'app.ts': `${KEPT}const start = () => new Promise(() => undefined)
export const app = createApp({ bricks: [{ name: 'slow', start }] })
`,
      },
    ],
    [
      'server.ts has not ended',
      { 'app.ts': `${KEPT}export const app = createApp()\n`, 'server.ts': ENDLESS },
    ],
  ] as const)
    it(`ends with it, also if ${when}`, async () => {
      const project = createProject({ ...files, 'routes/index.get.ts': 'export default () => 1\n' })
      const serving = project.serve(['dev', '--port', '0'])
      const file = join(project.directory, 'pid')
      let pid: number | undefined
      try {
        for (let turn = 0; turn < 1000 && !existsSync(file); turn++) await pause(20)
        pid = Number(readFileSync(file, 'utf8'))
        if ('server.ts' in files) await serving.output.until(/listens at/)
        // As the SIGHUP of a closed terminal does.
        serving.child.kill('SIGKILL')
        for (let turn = 0; turn < 3000 && isRunning(pid); turn++) await pause(20)
        expect(isRunning(pid)).to.equal(false)
      } finally {
        if (pid !== undefined && isRunning(pid)) process.kill(pid, 'SIGKILL')
        await serving.stop()
        project.remove()
      }
    })
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
