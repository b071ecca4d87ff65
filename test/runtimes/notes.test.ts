import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createClient, type Injectable } from 'mortar/testing'
import { ROOT } from '../architecture/tree.ts'
import { notesSuite } from '../examples/notes-suite.ts'
import { overHttp } from '../examples/over-http.ts'
import { freePort } from '../support/free-port.ts'
import { skipSuite } from '../support/servers.ts'
import { absent, RUNTIMES, runScript, type RunningScript } from './runtimes.ts'

const SCRIPT = join(ROOT, 'scripts/start.ts')

for (const runtime of RUNTIMES.filter(({ name }) => name !== 'Node'))
  describe(`The reference application on ${runtime.name}`, function () {
    if (runtime.program === undefined) skipSuite(absent(runtime))
    let directory: string
    let script: RunningScript
    let app: Injectable

    before(async () => {
      directory = mkdtempSync(join(tmpdir(), 'mortar-notes-'))
      const port = String(await freePort())
      script = runScript(runtime, [SCRIPT], { cwd: directory, variables: { PORT: port } })
      await script.output.until(/\d+ routes, ready in \d+ ms/)
      app = overHttp(`http://127.0.0.1:${port}`)
    })
    after(async () => {
      const code = await script?.stop()
      rmSync(directory, { recursive: true, force: true })
      expect(code, script?.output.text()).to.equal(0)
    })

    notesSuite(() => app)

    it('serves its OpenAPI document, its documentation and its mail', async () => {
      const client = createClient(app)
      expect((await client.get('/openapi.json')).body.openapi).to.match(/^3\.1\./)
      expect((await client.get('/docs', { headers: { accept: 'text/html' } })).text).to.contain('Notes')
      const mail = await client.get('/_framework/mail', { headers: { accept: 'application/json' } })
      expect(mail.body.messages).to.be.an('array')
    })
  })
