import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'chai'
import { validate } from 'dockerfile-utils'
import { createApp, createRouter } from 'mortar'
import { freePort } from '../support/free-port.ts'
import { commandOf, readStages, textOf } from './dockerfile.ts'
import { readDeployFile } from './files.ts'

describe('deploy/Dockerfile', () => {
  const dockerfile = readDeployFile('Dockerfile')
  const stages = readStages(dockerfile)
  const runtime = stages.at(-1)!

  it('has no problem that a linter finds', () => {
    expect(validate(dockerfile)).to.deep.equal([])
    expect(validate('FROM a\nRUNN b\nCMD c\nCMD d\n')).to.have.length.greaterThan(1)
  })

  it('builds in a stage of its own, and copies only the build and its packages', () => {
    expect(stages).to.have.length(2)
    const copied = runtime.filter(({ keyword }) => keyword === 'COPY').map(({ text }) => text)
    expect(copied).to.deep.equal([
      '--from=build /app/node_modules ./node_modules',
      '--from=build /app/dist ./',
    ])
    expect(runtime.map(({ keyword }) => keyword)).not.to.include('RUN')
  })

  it('runs as a numbered user that is not root', () => {
    expect(textOf(runtime, 'USER')).to.match(/^[1-9]\d*:[1-9]\d*$/)
  })

  it('starts node without npm and without a shell, and stops it with SIGTERM', () => {
    expect(commandOf(runtime, 'CMD')).to.deep.equal(['node', 'node_modules/.bin/mortar', 'start'])
    expect(textOf(runtime, 'STOPSIGNAL')).to.equal('SIGTERM')
  })

  it('keeps secrets, sources of other builds and tests out of the image', () => {
    const ignored = readDeployFile('Dockerfile.dockerignore').split('\n')
    expect(ignored).to.include.members(['.env', '.env.*', '.git', 'data', 'dist', 'node_modules', 'test'])
  })

  describe('HEALTHCHECK', () => {
    const [program, ...args] = commandOf(runtime, 'HEALTHCHECK')

    async function exitCode(port: number): Promise<unknown> {
      const env = { PATH: process.env['PATH'], PORT: String(port) }
      const [code] = (await once(spawn(program!, args, { env, stdio: 'ignore' }), 'exit')) as [number]
      return code
    }

    for (const [status, expected] of [
      [200, 0],
      [503, 1],
    ] as const)
      it(`ends with ${expected} when /livez responds with ${status}`, async () => {
        const livez = createRouter().get('/livez', (ctx) => {
          ctx.status = status
          return 'text'
        })
        const app = createApp().use(livez)
        try {
          expect(await exitCode((await app.listen(0)).port)).to.equal(expected)
        } finally {
          await app.close()
        }
      })

    it('ends with 1 when nothing listens', async () => {
      expect(await exitCode(await freePort())).to.equal(1)
    })
  })
})
