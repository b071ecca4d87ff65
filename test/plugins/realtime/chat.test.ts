import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { createApp, registerModules, type DefinedRoute } from 'mortar'
import { realtime } from '@mortar/realtime'
import { connect } from '@mortar/realtime/testing'
import { ROOT } from '../../architecture/tree.ts'
import { readBlocks } from '../../docs/read-blocks.ts'
import { createSessions } from '../../support/session-brick.ts'

const FILE = 'routes/rooms/[id].ws.ts'
const ROOM = '/rooms/0b9b2f0e-5c1e-4f0a-9d5c-1d1f3b6f6a10'

describe('The chat of docs/realtime.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mortar-chat-'))
  after(() => rmSync(folder, { recursive: true }))

  it('sends what one user says to all users of the room', async () => {
    const { code } = readBlocks('docs/realtime.md').find((block) => block.code.startsWith(`// ${FILE}`))!
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'room.ts'), code)
    const room = (await import(pathToFileURL(join(folder, 'room.ts')).href)) as { default: DefinedRoute }
    const sessions = createSessions()
    const app = createApp({ logger: false, environment: 'test' }).use(sessions.brick).use(realtime())
    registerModules(app, join(folder, 'routes'), { 'rooms/[id].ws.ts': room })
    const [ada, bob] = [
      await connect(app, ROOM, { token: 'ada' }),
      await connect(app, ROOM, { token: 'bob' }),
    ]
    ada.send({ text: 'Hello' })
    for (const client of [ada, bob]) expect(await client.next()).to.deep.equal({ from: 'ada', text: 'Hello' })
    await app.close()
    expect((await bob.closed).code).to.equal(1001)
  })
})
