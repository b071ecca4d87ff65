import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'chai'
import { ROOT } from '../architecture/tree.ts'
import { bundleScript } from '../support/bundle-script.ts'
import { startChildServer, type ChildServer } from '../support/child-server.ts'

describe('An uncaught error after listen()', function () {
  // Each test starts a process.

  const started: ChildServer[] = []
  async function start(variables: Readonly<Record<string, string>> = {}): Promise<ChildServer> {
    const quiet = { NODE_ENV: 'production', HOST: '127.0.0.1', LOG_LEVEL: undefined }
    const server = await startChildServer('signals/crashing.ts', { ...quiet, ...variables })
    started.push(server)
    return server
  }
  after(() => {
    for (const { child } of started) child.kill('SIGKILL')
  })

  for (const [path, origin, type, message] of [
    ['/throw', 'uncaughtException', 'TypeError', 'broken by postgres://[redacted]@db/x'],
    ['/reject', 'unhandledRejection', 'RangeError', 'nobody waits'],
  ] as const)
    it(`is one log line; active requests finish, bricks stop, the exit code is 1: ${origin}`, async () => {
      const server = await start({ SECOND: 'true' })
      const slow = fetch(`${server.url}/slow`)
      await fetch(server.url + path).then((response) => response.text())
      expect(await (await slow).text()).to.equal('finished')
      expect(await server.ended).to.equal(1)
      const lines = linesOf(server)
      const errors = lines.filter((line) => line['level'] === 50)
      expect(errors).to.have.length(1)
      expect(errors[0]).to.deep.include({ event: 'process.uncaught', origin })
      const { type: kind, message: words, stack } = errors[0]!['err'] as Record<string, string>
      expect([kind, words]).to.deep.equal([type, message])
      expect(stack).to.contain('crashing.ts')
      expect(server.output()).to.contain('stopped').and.not.to.contain('hunter2')
      expect(server.errors()).to.equal('')
      expect(lines.map((line) => line['path'])).to.include.members([path, '/slow'])
    })

  it('exits immediately if it is the second one', async () => {
    const server = await start()
    const never = fetch(`${server.url}/never`).then(
      () => 'finished',
      () => 'cut off',
    )
    await fetch(`${server.url}/twice`).then((response) => response.text())
    expect(await server.ended).to.equal(1)
    expect(await never).to.equal('cut off')
    const messages = linesOf(server).flatMap(
      ({ err }) => (err as { message?: string } | undefined)?.message ?? [],
    )
    expect(messages).to.deep.equal(['the first', 'the second'])
    expect(server.output()).not.to.contain('stopped')
  })

  it('leaves time for the bricks after a request that did not end in time', async () => {
    const server = await start({ SHUTDOWN_TIMEOUT: '0.5s' })
    const never = fetch(`${server.url}/never`).catch(() => 'cut off')
    await fetch(`${server.url}/throw`).then((response) => response.text())
    expect(await server.ended).to.equal(1)
    expect(await never).to.equal('cut off')
    expect(server.output()).to.contain('stopped')
  })

  it('is printed by an application without a log, and the exit code is 1 also after SIGTERM', async () => {
    const server = await start({ SILENT: 'true', BROKEN_STOP: 'true' })
    server.child.kill('SIGTERM')
    expect(await server.ended).to.equal(1)
    expect(server.errors()).to.contain('TypeError: broken by').and.not.to.contain('hunter2')
  })

  it('ends the application in order although it cannot be read, or cannot be logged', async () => {
    for (const variables of [{ SILENT: 'true' }, { BROKEN_LOG: 'true' }]) {
      const server = await start(variables)
      const slow = fetch(`${server.url}/slow`)
      await fetch(`${server.url}/unreadable`).then((response) => response.text())
      expect(await (await slow).text()).to.equal('finished')
      expect(await server.ended).to.equal(1)
      expect(server.output()).to.contain('stopped')
      expect(server.errors()).to.equal(
        'An unhandled rejection ends the process: An error that cannot be read was thrown.\n',
      )
    }
  })

  it('belongs to the application with signals: false', async () => {
    const server = await start({ OWN_HANDLERS: 'true' })
    await fetch(`${server.url}/throw`)
    expect((await fetch(`${server.url}/slow`)).status).to.equal(200)
    expect(server.output()).to.contain('handled')
    server.child.kill('SIGTERM')
    expect(await server.ended).to.equal('SIGTERM')
  })
})

describe('A StartupError that nothing catches', function () {
  const run = async (code: string) => {
    const framework = await bundleScript(join(ROOT, 'src/index.ts'))
    const script = `import { createApp, env, StartupError } from '${framework}'\n${code}`
    const args = ['--enable-source-maps', '--input-type=module', '-e', script]
    return spawnSync(process.execPath, args, {
      encoding: 'utf8',
      env: { ...process.env, NODE_ENV: 'production' },
    })
  }

  it('is printed as its message alone, and the exit code is 1', async () => {
    const { status, stderr } = await run(
      "env.all((read) => [read.string('FIRST_ONE'), read.port('SECOND_ONE')])",
    )
    expect(status).to.equal(1)
    expect(stderr.split('\n')).to.have.length(7)
    expect(stderr)
      .to.contain('FIRST_ONE is not set')
      .and.to.contain('SECOND_ONE is not set')
      .and.not.to.contain('    at ')
  })

  it('is printed the same way when a start rejects', async () => {
    const { status, stderr } = await run(
      "setInterval(() => {}, 1e6); await createApp({ bricks: [{ name: 'a', start: 5 }] }).listen(0)",
    )
    expect(status).to.equal(1)
    expect(stderr).to.contain('MORTAR_BRICK_SHAPE').and.not.to.contain('    at ')
  })

  it('is left to a handler of the application, and other errors keep their stack', async () => {
    const own = await run(
      "process.on('uncaughtException', ({ code }) => console.log('mine', code)); createApp({ drainDelay: 'x' })",
    )
    expect(own.stdout).to.contain('mine MORTAR_OPTION')
    const other = await run("try { createApp({ drainDelay: 'x' }) } catch {} throw new Error('another')")
    expect(other.stderr).to.contain('Error: another').and.to.contain('    at ')
  })
})

function linesOf(server: ChildServer): Record<string, unknown>[] {
  const lines = server.output().split('\n')
  return lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}
