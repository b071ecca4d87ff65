import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { freePort } from '../support/free-port.ts'
import { createProject, type TestProject } from './project.ts'

const FILES = {
  'app.ts': `import { createApp } from 'mortar'
import { realtime } from '@mortar/realtime'
import { channels } from '@mortar/realtime/channels'

export const app = createApp({ logRequests: false })
  .use(realtime())
  .use(channels({ directory: new URL('./channels', import.meta.url) }))
`,
  'routes/documents/[...path].put.ts': `import { routesFor } from 'mortar'
import { object, string } from 'mortar/yup'
import type { app } from '../../app.ts'
import documents from '../../channels/documents/[...path].ts'

const route = routesFor<typeof app>()
export default route({ params: object({ path: string().required() }) }, async ({ params, publish }) => {
  await publish(documents(params), 'changed', { from: import.meta.filename.endsWith('.js') ? 'the build' : 'a source' })
})
`,
  'channels/documents/[...path].ts': `import { channel } from '@mortar/realtime/channels'
import { object, string } from 'mortar/yup'
export default channel({
  auth: false,
  params: object({ path: string().required() }),
  events: { changed: object({ from: string().required() }) },
  keep: '1h',
})
`,
}

describe('channels on the command line', () => {
  let project: TestProject
  before(() => {
    project = createProject(FILES)
  })
  after(() => project.remove())

  it('are listed by mortar routes with their settings and files', () => {
    const { out } = project.mortar(['routes'])
    expect(out).to.match(/^CHANNEL +SETTINGS +FILE$/m)
    expect(out).to.match(
      /^documents\/\[\.\.\.path\] +auth false, events changed, keep 3600s +channels\/documents\/\[\.\.\.path\]\.ts$/m,
    )
  })

  it('stop a build if one is broken', () => {
    project.write({ 'channels/empty.ts': 'export {}\n' })
    const ran = project.mortar(['build'])
    rmSync(join(project.directory, 'channels/empty.ts'))
    expect([ran.code, ran.err.includes('MORTAR_CHANNELS_FILE')], ran.err).to.deep.equal([1, true])
  })

  it('are compiled by a build, and deliver events in it', async () => {
    const built = project.mortar(['build'])
    expect(built.code, built.err).to.equal(0)
    const PORT = String(await freePort())
    const web = project.serve(['start'], { variables: { NODE_ENV: 'production', PORT } })
    await web.output.until(/listens at/)
    const url = `http://127.0.0.1:${PORT}`
    const controller = new AbortController()
    const { signal } = controller
    const { body } = await fetch(`${url}/channels?channel=documents/2026/plan`, { signal })
    await fetch(`${url}/documents/2026/plan`, { method: 'PUT' })
    let text = ''
    for await (const chunk of body!) {
      text += Buffer.from(chunk).toString()
      if (text.includes('"event"')) break
    }
    expect(text).to.include('"data":{"from":"the build"}')
    controller.abort()
    expect(await web.stop(), web.output.text()).to.equal(0)
  })
})
