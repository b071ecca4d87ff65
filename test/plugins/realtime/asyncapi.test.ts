import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import { expect } from 'chai'
import { createApp, createRouter } from 'mortar'
import { createClient } from 'mortar/testing'
import { defineSocket, realtime } from '@mortar/realtime'
import { array, object, string } from 'mortar/yup'
import { createProject } from '../../cli/project.ts'
import { channelApp, createUsers } from './channels/channel-app.ts'

const published = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0-without-$id.json') as object
const validate = new Ajv({ strict: false, validateFormats: false, logger: false }).compile(published)

interface Document {
  readonly channels: Readonly<Record<string, Record<string, unknown>>>
  readonly operations: Readonly<Record<string, Record<string, unknown>>>
  readonly components: { readonly schemas?: object; readonly securitySchemes?: object }
}

/** Every reference of a document, and its target. */
function referencesIn(document: object): readonly (readonly [string, unknown])[] {
  const found: string[] = []
  JSON.stringify(document, (key, value: unknown) => {
    if (key === '$ref') found.push(String(value))
    return value
  })
  const targetOf = (reference: string): unknown =>
    reference
      .slice(2)
      .split('/')
      .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], document)
  return found.map((reference) => [reference, targetOf(reference)])
}

function expectValid(document: object): void {
  expect(validate({ ...document, operations: { broken: {} } })).to.equal(false)
  expect(validate(document), JSON.stringify(validate.errors?.slice(0, 5))).to.equal(true)
  const references = referencesIn(document)
  expect(references).to.have.length.above(0)
  for (const [reference, target] of references) expect(target, reference).to.be.an('object')
}

const said = object({ text: string().max(500).required() }).label('Said')
const room = defineSocket(
  {
    auth: 'owner',
    summary: 'A room',
    tags: ['chat'],
    params: object({ id: string().required().meta({ description: 'The room.' }) }),
    query: object({ since: string() }),
    headers: object({ 'x-own': string() }),
    receive: said,
    send: object({ from: string().required(), said: array(said.required()) }),
  },
  () => undefined,
)

describe('The AsyncAPI document', () => {
  it('describes socket routes by their path: handshake, guard, and the messages of each direction', async () => {
    const users = createUsers()
    const app = createApp({
      logger: false,
      environment: 'test',
      openapi: { title: 'Chat', version: '2.0.0' },
    })
      .use(users.brick)
      .use(realtime())
      .use(
        createRouter()
          .get(
            '/ticks',
            defineSocket({ send: string() }, () => undefined),
          )
          .get('/rooms/:id', room)
          .get('/plain', () => 1),
      )
    const { status, headers, body } = await createClient(app).get('/asyncapi.json')
    expect([status, headers['content-type']]).to.deep.equal([200, 'application/json; charset=utf-8'])
    expectValid(body as object)
    const { channels, operations, components } = body as Document
    expect(Object.keys(channels)).to.deep.equal(['rooms_id', 'ticks'])
    expect(channels['rooms_id']).to.deep.include({
      address: '/rooms/{id}',
      title: 'A room',
      description: 'Requires the policy `owner`.',
      parameters: { id: { description: 'The room.' } },
      'x-policies': ['owner'],
    })
    expect(channels['rooms_id']!['bindings']).to.have.nested.property('ws.query.properties.since')
    expect(channels['rooms_id']!['bindings']).to.have.nested.property('ws.headers.properties.x-own')
    expect(channels['rooms_id']!['messages']).to.have.all.keys('receive.message', 'send.message', 'problem')
    expect(Object.keys(operations)).to.deep.equal(['rooms_id.receive', 'rooms_id.send', 'ticks.send'])
    expect(operations['rooms_id.send']).to.deep.include({
      action: 'send',
      security: [{ $ref: '#/components/securitySchemes/key' }],
      tags: [{ name: 'chat' }],
    })
    expect(operations['ticks.send']).to.not.have.property('security')
    expect(components.securitySchemes).to.deep.equal({ key: { type: 'http', scheme: 'bearer' } })
    expect(components.schemas).to.have.property('Said')
    const page = await createClient(app).get('/docs')
    expect(page.text).to.include('<a href="./asyncapi.json">')
    await app.close()
  })

  it('describes the events of channels', async () => {
    const app = channelApp(createUsers())
    const { body } = await createClient(app).get('/asyncapi.json')
    expectValid(body as object)
    const { channels, operations } = body as Document
    expect(channels['rooms_id']).to.deep.include({
      address: '/rooms/{id}',
      'x-protocol': 'channel',
      'x-over': '/channels',
    })
    expect(operations).to.include.keys('rooms_id.send').and.not.include.keys('rooms_id.receive')
    await app.close()
  })

  it('does not exist without sockets, nor in place of a route of the application', async () => {
    const plain = createApp({ logger: false, environment: 'test' }).use(createRouter().get('/', () => 1))
    expect((await createClient(plain).get('/asyncapi.json')).status).to.equal(404)
    expect((await createClient(plain).get('/docs')).text).to.not.include('asyncapi')
    await plain.close()
    const own = createApp({ logger: false, environment: 'test' })
      .use(realtime())
      .use(
        createRouter()
          .get('/asyncapi.json', () => 'own')
          .get(
            '/ticks',
            defineSocket({}, () => undefined),
          ),
      )
    expect((await createClient(own).get('/asyncapi.json')).text).to.equal('own')
    await own.close()
  })

  it('is printed by mortar openapi --async, and mortar routes lists the sockets', () => {
    const project = createProject({
      'app.ts': `import { createApp } from 'mortar'
import { realtime } from '@mortar/realtime'
export const app = createApp({ bricks: [realtime()] })
`,
      'routes/rooms/[id].ws.ts': `import { defineSocket } from '@mortar/realtime'
import { object, string } from 'mortar/yup'
export default defineSocket({ receive: object({ text: string().required() }) }, () => undefined)
`,
    })
    try {
      const printed = project.mortar(['openapi', '--async'])
      expect(printed.code, printed.err).to.equal(0)
      const document = JSON.parse(printed.out) as Document
      expectValid(document)
      expect(Object.keys(document.channels)).to.deep.equal(['rooms_id'])
      const listed = project.mortar(['routes'])
      expect(listed.out).to.match(/^GET websocket +\/rooms\/:id +- +receive +routes\/rooms\/\[id\]\.ws\.ts$/m)
    } finally {
      project.remove()
    }
  })
})
