import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { readImports } from '../architecture/read-imports.ts'
import { ROOT, readSources } from '../architecture/tree.ts'
import { outputOf } from '../docs/child-output.ts'
import { builtFramework } from '../support/built-framework.ts'
import { freePort } from '../support/free-port.ts'

const SOURCES = readSources(['examples/notes'])
const TSX = pathToFileURL(join(ROOT, 'node_modules/tsx/dist/loader.mjs')).href

/** Packages that the application imports by name. */
const FRAMEWORK = ['mortar', '@mortar']
const OTHERS = ['typeorm', 'yup']

describe('The folder of the reference application', () => {
  it('imports no file outside of itself', () => {
    const outside = Object.entries(SOURCES).flatMap(([path, source]) =>
      readImports(source)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => resolve('/', path, '..', specifier))
        .filter((target) => !target.startsWith('/examples/notes/'))
        .map((target) => `${path} imports ${target}`),
    )
    expect(Object.keys(SOURCES).length).to.be.greaterThan(20)
    expect(outside).to.deep.equal([])
  })

  it('is assembled for production without any variable, as a build does', () => {
    const directory = mkdtempSync(join(tmpdir(), 'mortar-copied-'))
    copyApplication(directory)
    const program = join(builtFramework(), 'mortar/dist/cli/main.js')
    const { status, stderr } = spawnSync(process.execPath, [program, 'routes'], {
      cwd: directory,
      env: { PATH: process.env['PATH'], HOME: directory, NODE_ENV: 'production' },
      encoding: 'utf8',
    })
    rmSync(directory, { recursive: true, force: true })
    expect(status, stderr).to.equal(0)
  })

  it('serves requests from where it was copied to', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mortar-copied-'))
    const port = await freePort()
    copyApplication(directory)
    const child = spawn(process.execPath, ['--import', TSX, 'server.ts'], {
      cwd: directory,
      env: { PATH: process.env['PATH'], HOME: directory, NODE_ENV: 'test', PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    try {
      await outputOf(child).until(/\d+ routes, ready in \d+ ms/)
      const signup = await post(`http://127.0.0.1:${port}/auth/signup`, {
        name: 'Ada',
        email: 'ada@example.com',
        password: 'correct horse battery',
      })
      expect(signup.status).to.equal(201)
      const { accessToken } = (await signup.json()) as { accessToken: string }
      const headers = { authorization: `Bearer ${accessToken}` }
      expect(await (await fetch(`http://127.0.0.1:${port}/notes`, { headers })).json()).to.deep.equal({
        notes: [],
        total: 0,
      })
    } finally {
      if (child.exitCode === null) {
        child.kill('SIGINT')
        await once(child, 'close')
      }
      rmSync(directory, { recursive: true, force: true })
    }
  })
})

/** Copies the application, with links in place of an installation. */
function copyApplication(directory: string): void {
  cpSync(join(ROOT, 'examples/notes'), directory, {
    recursive: true,
    filter: (path) => !/[\\/](data|dist|\.framework)$/.test(path),
  })
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ name: 'notes', type: 'module' }))
  mkdirSync(join(directory, 'node_modules'))
  const link = (from: string, name: string) =>
    symlinkSync(join(from, name), join(directory, 'node_modules', name))
  for (const name of FRAMEWORK) link(builtFramework(), name)
  for (const name of OTHERS) link(join(ROOT, 'node_modules'), name)
}

function post(url: string, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}
