import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { createApp, registerModules, type DefinedRoute } from 'mortar'
import { createClient } from 'mortar/testing'
import { realtime } from '@mortar/realtime'
import { channels } from '@mortar/realtime/channels'
import { subscribe } from '@mortar/realtime/channels/testing'
import { ROOT } from '../../../architecture/tree.ts'
import { readBlocks } from '../../../docs/read-blocks.ts'
import { createUsers } from './channel-app.ts'

const FILES = ['channels/rooms/[id].ts', 'routes/rooms/[id]/messages.post.ts']
const ROOM = 'rooms/0b9b2f0e-5c1e-4f0a-9d5c-1d1f3b6f6a10'

describe('The chat with channels of docs/realtime.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mortar-channels-'))
  after(() => rmSync(folder, { recursive: true }))

  it('sends what one user says to all users of the room, in at most 60 lines', async () => {
    const blocks = readBlocks('docs/realtime.md').map(({ code }) => code)
    const codeOf = (file: string) => blocks.find((code) => code.startsWith(`// ${file}`))!
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    // The same maker without the database of the page.
    writeFileSync(join(folder, 'route.ts'), "export { defineRoute as route } from 'mortar'")
    for (const file of FILES) {
      mkdirSync(join(folder, dirname(file)), { recursive: true })
      writeFileSync(join(folder, file), codeOf(file))
    }
    const route = (await import(pathToFileURL(join(folder, FILES[1]!)).href)) as { default: DefinedRoute }
    const app = createApp({ logger: false, environment: 'test' })
      .use(createUsers().brick)
      .use(realtime())
      .use(channels({ directory: join(folder, 'channels') }))
    registerModules(app, join(folder, 'routes'), { 'rooms/[id]/messages.post.ts': route })
    const readers = [
      await subscribe(app, ROOM, { token: 'ada' }),
      await subscribe(app, ROOM, { token: 'bob' }),
    ]
    await createClient(app).withToken('ada').post(`/${ROOM}/messages`, { text: 'Hello' })
    for (const reader of readers) {
      let next = await reader.next()
      if (next.type === 'join') next = await reader.next()
      expect(next).to.deep.include({ event: 'said', data: { from: 'ada', text: 'Hello' } })
    }
    await app.close()
    const lines = [...FILES, 'route.ts', 'frontend/room-events.ts'].flatMap((file) =>
      codeOf(file).split('\n'),
    )
    expect(lines.length).to.be.at.most(64)
  })
})
