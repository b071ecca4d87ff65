import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { parseAllDocuments } from 'yaml'
import { commandOf, readStages } from './dockerfile.ts'
import { readDeployFile } from './files.ts'
import { type Container, createContainer, needsReadOnlyRoot } from './read-only.ts'

/** The command of the container of the job that migrates. */
function migrateCommand(): readonly string[] {
  const [job] = parseAllDocuments(readDeployFile('kubernetes.yaml')).map(
    (document) => document.toJS() as { spec: { template: { spec: { containers: [{ args: string[] }] } } } },
  )
  return job!.spec.template.spec.containers[0].args
}

describe('The image of the Dockerfile, on a read-only root file system as another user', () => {
  needsReadOnlyRoot()
  const runtime = readStages(readDeployFile('Dockerfile')).at(-1)!
  let container: Container

  before(async () => {
    container = await createContainer({
      AUTH_SECRET: randomBytes(32).toString('base64url'),
      APP_URL: 'https://notes.example.com',
      MAIL_TRANSPORT: 'memory',
      DRAIN_DELAY: '0',
    })
  })

  after(() => container?.remove())

  it('cannot write a file beside its code', () => {
    const { status, output } = container.run(['touch', 'new-file'])
    expect(status).to.equal(1)
    expect(output).to.include('Read-only file system')
  })

  it('migrates with the command of the job, serves, stores uploads in the temp folder, and stops with 0', async () => {
    const migrated = container.run(migrateCommand())
    expect(migrated.status, migrated.output).to.equal(0)

    const { output, stop } = container.start(commandOf(runtime, 'CMD'))
    try {
      await output.until(/\d+ routes, ready in \d+ ms/)
      const signup = await post('/auth/signup', {
        name: 'Ada',
        email: 'ada@example.com',
        password: 'correct horse battery',
      })
      expect(signup.status).to.equal(201)
      const { accessToken } = (await signup.json()) as { accessToken: string }
      const headers = { authorization: `Bearer ${accessToken}` }
      expect((await post('/notes', { title: 'First', text: '' }, headers)).status).to.equal(201)
      const form = new FormData()
      form.append('content', new Blob([new Uint8Array(300_000)]), 'a.bin')
      const uploaded = await fetch(`${container.url}/soak/uploads`, { method: 'POST', body: form })
      expect(await uploaded.json()).to.deep.include({ size: 300_000 })
    } finally {
      expect(await stop()).to.equal(0)
    }
    expect(output.text()).not.to.match(/EROFS|EACCES/)
  })

  function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(container.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  }
})
