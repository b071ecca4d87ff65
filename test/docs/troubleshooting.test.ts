import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { createApp, createRouter, defineBrick, env, loadRoutes, PROBLEM_CODES } from 'mortar'
import { createClient } from 'mortar/testing'
import { inlineCode, tableRows } from '../architecture/markdown.ts'
import { ownBricks } from '../architecture/own-bricks.ts'
import { ROOT } from '../architecture/tree.ts'
import { packageFolder } from '../peers/package-folder.ts'
import { startupErrorOf } from '../support/startup-error-of.ts'
import { readBlocks } from './read-blocks.ts'

const PAGE = 'docs/troubleshooting.md'

/** An application that a developer has just written, with one mistake in it. */
const MISTAKES: Readonly<Record<string, () => Promise<unknown>>> = {
  'a port in use': async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    await quiet()
      .listen(port, '127.0.0.1')
      .finally(() => other.close())
  },
  'a missing variable': async () => env.string('TROUBLESHOOTING_NOT_SET'),
  'a missing package': async () => {
    const folder = packageFolder({ cache: '^2.1.0' })
    const store = defineBrick({ name: 'store', peers: folder.peers(['cache']) })
    await quiet()
      .use(store)
      .ready()
      .finally(() => folder.remove())
  },
  'auth without a brick': () =>
    quiet()
      .use(createRouter().get('/', { auth: true }, hello))
      .ready(),
  'an unknown policy': () =>
    quiet()
      .use(ownBricks().find(({ name }) => name === 'auth')!)
      .use(createRouter().get('/', { auth: 'admn' }, hello))
      .ready(),
  'a route file without a method': async () => {
    const app = quiet()
    await loadRoutes(app, join(ROOT, 'test/fixtures/routes/broken/method-missing'))
    await app.ready()
  },
}

describe('docs/troubleshooting.md', () => {
  const text = readFileSync(join(ROOT, PAGE), 'utf8')
  const lines = readBlocks(PAGE)
    .filter(({ language }) => language === 'text')
    .map(({ code }) => code.trim())

  it('names only codes that exist', () => {
    const known = new Set([
      ...Object.keys(PROBLEM_CODES),
      ...ownBricks().flatMap(({ problems = {} }) => Object.keys(problems)),
    ])
    const named = tableRows(text).flatMap(([first]) => inlineCode(first!))
    expect(named.filter((code) => /^[a-z]+(_[a-z]+)+$/.test(code) && !known.has(code))).to.deep.equal([])
  })

  for (const [name, make] of Object.entries(MISTAKES))
    it(`shows the message of ${name}`, async () => {
      const { message } = await startupErrorOf(make)
      expect(
        lines.filter((line) => fits(message, line)),
        message,
      ).to.have.length(1)
    })

  it('shows the detail of a value that cannot be sent', async () => {
    const app = quiet().use(createRouter().get('/', () => ({ total: 1n })))
    const { body } = await createClient(app).get('/')
    await app.close()
    const { detail } = body as { detail: string }
    expect(
      lines.filter((line) => fits(detail, line)),
      detail,
    ).to.have.length(1)
  })

  it('has a message of this test in each block', () => {
    expect(lines).to.have.length(Object.keys(MISTAKES).length + 1)
  })
})

function quiet() {
  return createApp({ logger: false })
}

function hello() {
  return 'hello'
}

/** True if a line of the message begins with the shown line, in which `…` is any text. */
function fits(message: string, line: string): boolean {
  const parts = line.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}`, 'm').test(message)
}
