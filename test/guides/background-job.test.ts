import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { type ServingWorkers, serveWorkers } from '../cli/workers/serving.ts'
import { createProject, type TestProject } from '../cli/project.ts'
import { readBlocks } from '../docs/read-blocks.ts'
import { followGuide, pathOf } from './guide-files.ts'
import { newApplication } from './new-application.ts'

const PAGE = 'docs/guides/background-job.md'
const SUBSCRIBERS = ['index-note', 'tell-friends']

const blocks = readBlocks(PAGE)

/** A line of the log of a job or a request. */
interface Line {
  readonly pid: number
  readonly msg: string
  readonly requestId?: string
  readonly job?: string
  readonly note?: string
}

describe(`${PAGE}, the job`, () => {
  it('has at most 15 lines', () => {
    const file = blocks.find((block) => pathOf(block) === 'jobs/delete-old-notes.ts')!
    expect(file.code.trim().split('\n').length).to.be.at.most(15)
  })
})

describe(`${PAGE}, with --workers 2`, () => {
  let project: TestProject
  let variables: Record<string, string>
  let serving: ServingWorkers | undefined

  before(async () => {
    const files = followGuide(await newApplication(), blocks)
    // Requests in the log, so that the process of each is known.
    const config = files['config/index.ts']!.replace('  bricks,\n', '  bricks,\n  logRequests: true,\n')
    project = createProject({ ...files, 'config/index.ts': config })
    variables = {
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      APP_URL: 'http://localhost:3000',
      MAIL_TRANSPORT: 'memory',
      DATABASE_URL: `sqlite:${join(project.directory, 'data/app.db')}`,
    }
    const development = { ...variables, NODE_ENV: 'development' }
    run(['migrate', 'run'], development)
    run(['migrate', 'generate', 'add jobs'], development)
    run(['build'], variables)
    run(['migrate', 'run'], variables)
  })
  after(async () => {
    await serving?.cleanUp()
    project?.remove()
  })

  function run(args: readonly string[], given: Record<string, string>): void {
    const { code, out, err } = project.mortar(args, { variables: given })
    expect(code, `${args.join(' ')}: ${out}${err}`).to.equal(0)
  }

  it('runs each subscriber of an event once, in any process', async () => {
    serving = await serveWorkers(project, ['--workers', '2'], variables)
    await serving.untilEvent('worker.ready', 2)
    const { child, output, port } = serving
    const post = async (path: string, body: object, token?: string): Promise<Record<string, string>> => {
      const headers = {
        'content-type': 'application/json',
        // The next request gets another worker.
        connection: 'close',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      }
      const request = { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await fetch(`http://127.0.0.1:${port}${path}`, request)
      expect(response.status).to.equal(201)
      return (await response.json()) as Record<string, string>
    }
    const ada = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }
    const { accessToken } = await post('/auth/signup', ada)

    const expected: string[] = []
    let isShared = false
    while (!isShared) {
      const notes = await Promise.all(
        Array.from({ length: 6 }, () => post('/notes', { title: 'Milk', text: '' }, accessToken)),
      )
      expected.push(...notes.flatMap(({ id }) => SUBSCRIBERS.map((job) => `${job} ${id}`)))
      while (runsOf(output.text()).length < expected.length) {
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(output.text())
        await wait(20)
      }
      isShared = isRunElsewhere(output.text())
    }
    const runs = runsOf(output.text()).map(({ job, note }) => `${job} ${note}`)
    expect(runs.toSorted()).to.deep.equal(expected.toSorted())
    expect(await serving.end('SIGTERM')).to.deep.equal([0, null])
  })
})

function linesOf(text: string): readonly Line[] {
  return text
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
}

function runsOf(text: string): readonly Line[] {
  return linesOf(text).filter(({ note }) => note !== undefined)
}

/** True if a subscriber has run in another process than the request that published its event. */
function isRunElsewhere(text: string): boolean {
  const requests = linesOf(text).filter(({ msg }) => msg.startsWith('POST /notes'))
  const processes = new Map(requests.map(({ requestId, pid }) => [requestId, pid]))
  return runsOf(text).some(({ requestId, pid }) => processes.get(requestId) !== pid)
}
