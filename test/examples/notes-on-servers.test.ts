import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { fromUrl } from '@mortar/database'
import type { Injectable } from 'mortar/testing'
import { runStatement, withDatabase } from '../support/run-statement.ts'
import { serverUrl, type ServerVariable } from '../support/servers.ts'
import { overHttp } from './over-http.ts'
import { notesSuite } from './notes-suite.ts'
import { startCopiedNotes, startNotes, type RunningNotes } from './running-notes.ts'

const SERVERS: readonly (readonly [name: string, variable: ServerVariable, start: typeof startNotes])[] = [
  ['PostgreSQL, as npm start runs it', 'TEST_POSTGRES_URL', startNotes],
  ['MariaDB', 'TEST_MARIADB_URL', startCopiedNotes],
]

describe('the reference application', () => {
  for (const [name, variable, start] of SERVERS)
    describe(`on ${name}`, function () {
      const server = serverUrl(variable)
      const database = `mortar_notes_${randomBytes(6).toString('hex')}`
      let notes: RunningNotes
      let app: Injectable

      before(async () => {
        await runStatement(fromUrl(server), `create database ${database}`)
        notes = await start({ DATABASE_URL: withDatabase(server, database) })
        app = overHttp(notes.url)
      })

      after(async () => {
        expect(await notes?.stop()).to.equal(0)
        await runStatement(fromUrl(server), `drop database ${database}`)
      })

      notesSuite(() => app)
    })
})
