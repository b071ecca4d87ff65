import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { readImports } from '../architecture/read-imports.ts'
import { readSources } from '../architecture/tree.ts'
import { builtFramework } from '../support/built-framework.ts'
import { copyNotes, startCopiedNotes } from './running-notes.ts'

const SOURCES = readSources(['examples/notes'])

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
    const directory = copyNotes()
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
    const notes = await startCopiedNotes({ NODE_ENV: 'test' })
    try {
      const signup = await post(`${notes.url}/auth/signup`, {
        name: 'Ada',
        email: 'ada@example.com',
        password: 'correct horse battery',
      })
      expect(signup.status).to.equal(201)
      const { accessToken } = (await signup.json()) as { accessToken: string }
      const headers = { authorization: `Bearer ${accessToken}` }
      expect(await (await fetch(`${notes.url}/notes`, { headers })).json()).to.deep.equal({
        notes: [],
        total: 0,
      })
    } finally {
      await notes.stop()
    }
  })
})

function post(url: string, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}
