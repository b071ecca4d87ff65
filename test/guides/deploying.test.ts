import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect } from 'chai'
import { fromUrl } from '@mortar/database'
import { ROOT } from '../architecture/tree.ts'
import { needsProgram } from '../deploy/files.ts'
import { type RunningProxy, startProxyServer } from '../deploy/running-proxy.ts'
import { surroundSite } from '../deploy/surround-site.ts'
import { expectOutput } from '../docs/expect-output.ts'
import { readBlocks } from '../docs/read-blocks.ts'
import { openShell } from '../docs/shell.ts'
import { runStatement, withDatabase } from '../support/run-statement.ts'
import { serverUrl } from '../support/servers.ts'
import {
  type GuideApplication,
  removeApplication,
  startApplication,
  writeApplication,
} from './guide-application.ts'
import { newApplication } from './new-application.ts'

const PAGE = 'docs/guides/deploying-with-postgresql-and-nginx.md'
const ADDRESS = 'https://my-app.example.com'

const blocks = readBlocks(PAGE)
const fileOf = (path: string): string => blocks.find(({ code }) => code.startsWith(`# ${path}\n`))!.code

describe(`${PAGE}, on PostgreSQL and nginx`, function () {
  needsProgram('nginx')
  const server = serverUrl('TEST_POSTGRES_URL')
  const database = `mortar_guide_${randomBytes(6).toString('hex')}`
  const settings = {
    ...parseEnv(fileOf('/etc/my-app/my-app.env')),
    NODE_ENV: 'production',
    LOG_LEVEL: 'silent',
    MAIL_TRANSPORT: 'memory',
    DATABASE_URL: server && withDatabase(server, database),
  }
  let directory: string
  let running: GuideApplication
  let proxy: RunningProxy

  before(async () => {
    await runStatement(fromUrl(server), `create database ${database}`)
    directory = writeApplication(await newApplication({ database: 'postgres' }))
    migrate(directory, settings)
    running = await startApplication(directory, settings)
    proxy = await startProxyServer((place) => {
      const site = fileOf('/etc/nginx/sites-enabled/my-app.conf')
        .replace('listen 80;', `listen 127.0.0.1:${place.port};`)
        .replace('127.0.0.1:3000', `127.0.0.1:${running.port}`)
      const file = join(place.directory, 'nginx.conf')
      writeFileSync(file, surroundSite(place.directory, site))
      return ['nginx', '-c', file]
    })
  })

  after(async () => {
    await proxy?.stop()
    await running?.app.close()
    if (directory) removeApplication(directory)
    await runStatement(fromUrl(server), `drop database if exists ${database} with (force)`)
  })

  it('shows the output of its commands', async () => {
    const index = blocks.findIndex(({ code }) => code.includes(`curl -s ${ADDRESS}`))
    const shell = openShell(directory)
    try {
      const printed = await shell.run(blocks[index]!.code.replaceAll(ADDRESS, proxy.url))
      expectOutput(printed, blocks[index + 1]!.code, PAGE)
    } finally {
      await shell.end()
    }
  })
})

describe(`${PAGE}, the service`, () => {
  needsProgram('systemd-analyze')

  it('is a correct unit', () => {
    const folder = mkdtempSync(join(tmpdir(), 'mortar-unit-'))
    try {
      const file = join(folder, 'my-app.service')
      writeFileSync(file, fileOf('/etc/systemd/system/my-app.service'))
      const { stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
      // A missing program or service is a fault of this machine, not of the unit.
      const own = stderr.split('\n').filter((line) => line.includes('my-app.service:'))
      expect(own.filter((line) => !/not executable|not found/.test(line))).to.deep.equal([])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

function migrate(directory: string, variables: Readonly<Record<string, string | undefined>>): void {
  const program = ['--import', 'tsx', '--conditions=source', join(ROOT, 'src/cli/main.ts')]
  const env = { PATH: process.env['PATH'], ...variables }
  const ran = spawnSync(process.execPath, [...program, 'migrate', 'run'], {
    cwd: directory,
    env,
    encoding: 'utf8',
  })
  expect(ran.status, ran.stdout + ran.stderr).to.equal(0)
}
