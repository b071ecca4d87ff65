import { Validator } from '@seriousme/openapi-schema-validator'
import { expect } from 'chai'
import { array, date, lazy, number, object, string, type AnySchema, type ObjectSchema } from 'yup'
import { z } from 'zod'
import { buildDocument } from '../../src/openapi/document.ts'
import type { Route } from '../../src/routing/route.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { routeOf } from './routes.ts'

type Json = Record<string, any> // oxlint-disable-line typescript/no-explicit-any -- a document of any form

function read(routes: readonly Route[]): { document: Json; schemas: Json; warnings: string[] } {
  const warnings: string[] = []
  const document: Json = buildDocument({
    routes,
    title: 'Notes',
    version: '1',
    warn: (message) => warnings.push(message),
  })
  const { Problem, ValidationProblem, ...schemas } = document.components.schemas as Json
  expect(Problem).to.be.an('object')
  expect(ValidationProblem).to.be.an('object')
  return { document, schemas, warnings }
}

const answering = (line: string, schema: Schema): Route => routeOf(line, { response: { 200: schema } })
const taking = (line: string, body: Schema): Route => routeOf(line, { body })
const bodyOf = (document: Json, path: string, method = 'get'): Json =>
  document.paths[path][method].responses['200'].content['application/json'].schema
const sentTo = (document: Json, path: string, method = 'post'): Json =>
  document.paths[path][method].requestBody.content['application/json'].schema
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

const user = object({ id: number().required(), name: string().required() }).label('User')
const issue = object({ id: number().required(), title: string().required(), author: user.required() }).label(
  'Issue',
)

describe('A labelled schema', () => {
  it('may have its name in meta, so that messages do not mention it', () => {
    const input = object({ title: string() }).label('The issue').meta({ title: 'IssueInput' })
    const { document, schemas } = read([taking('POST /a', input)])
    expect(sentTo(document, '/a')).to.deep.equal(ref('IssueInput'))
    expect(schemas.IssueInput).to.deep.equal({ type: 'object', properties: { title: { type: 'string' } } })
  })

  it('keeps the default of each use beside the reference', () => {
    const owner = z.object({ name: z.string() }).meta({ title: 'Owner' })
    const body = z.object({ owner, deputy: owner.default({ name: 'Ada' }) })
    const { document, schemas } = read([taking('POST /a', body)])
    expect(sentTo(document, '/a').properties).to.deep.equal({
      owner: ref('Owner'),
      deputy: { ...ref('Owner'), default: { name: 'Ada' } },
    })
    expect(schemas.Owner).not.to.have.property('default')
  })

  it('is one component, which every operation and schema refers to', () => {
    const { document, schemas, warnings } = read([
      answering('GET /issues', array(issue).required()),
      answering('GET /issues/:id', issue.required()),
      taking('POST /issues', issue),
    ])
    expect(bodyOf(document, '/issues')).to.deep.equal({ type: 'array', items: ref('Issue') })
    expect(bodyOf(document, '/issues/{id}')).to.deep.equal(ref('Issue'))
    expect(sentTo(document, '/issues')).to.deep.equal(ref('Issue'))
    expect(schemas).to.have.all.keys('Issue', 'User')
    expect(schemas.Issue.properties.author).to.deep.equal(ref('User'))
    expect(schemas.Issue).not.to.have.property('title')
    expect(warnings).to.deep.equal([])
  })

  it('has a second component for input only where the two forms differ', () => {
    const settings = object({ theme: string().default('dark'), owner: user }).label('Settings')
    const { document, schemas, warnings } = read([
      taking('POST /a', settings),
      answering('GET /b', settings.required()),
      taking('POST /c', object({ theme: string().default('dark') }).label('OnlyInput')),
    ])
    expect(sentTo(document, '/a')).to.deep.equal(ref('SettingsInput'))
    expect(bodyOf(document, '/b')).to.deep.equal(ref('Settings'))
    expect(schemas).to.have.all.keys('Settings', 'SettingsInput', 'OnlyInput', 'User')
    expect(schemas.Settings.required).to.deep.equal(['theme'])
    expect(schemas.SettingsInput.required).to.deep.equal(['owner'])
    // The name says the label already.
    for (const schema of Object.values(schemas)) expect(schema).not.to.have.property('title')
    expect(warnings).to.deep.equal([])
  })

  it('does not take the name of another schema for its input form', () => {
    const settings = object({ theme: string().default('dark') }).label('Settings')
    const { document, schemas, warnings } = read([
      taking('POST /a', settings),
      answering('GET /b', settings.required()),
      answering('GET /c', object({ other: number().required() }).label('SettingsInput').required()),
    ])
    expect(bodyOf(document, '/c')).to.deep.equal(ref('SettingsInput'))
    expect(schemas.SettingsInput.properties).to.have.all.keys('other')
    expect(sentTo(document, '/a')).to.deep.equal(ref('Settings2'))
    expect(schemas.Settings2.properties).to.have.all.keys('theme')
    expect(warnings).to.have.length(1)
  })

  it('keeps its component when it is nullable, has a default or a description of its own', () => {
    const page = object({
      a: user.nullable(),
      b: user.default(undefined).meta({ description: 'The reviewer.' }),
      c: user.default({ id: 1, name: 'root' }),
    })
    const { document, schemas, warnings } = read([answering('GET /a', user), answering('GET /b', page)])
    expect(bodyOf(document, '/b').properties).to.deep.equal({
      a: { anyOf: [ref('User'), { type: 'null' }] },
      b: { description: 'The reviewer.', ...ref('User') },
      c: { ...ref('User'), default: { id: 1, name: 'root' } },
    })
    expect(schemas).to.have.all.keys('User')
    expect(warnings).to.deep.equal([])
  })

  it('repeats no annotation of its component beside a reference, also if it is a list', () => {
    const make = () =>
      object({ id: number() })
        .label('Tag')
        .meta({ examples: [{ id: 2 }] })
    const { document, schemas } = read([taking('POST /a', make()), taking('POST /b', make())])
    for (const path of ['/a', '/b']) expect(sentTo(document, path)).to.deep.equal(ref('Tag'))
    expect(schemas.Tag).to.deep.include({ examples: [{ id: 2 }] })
  })

  it('never shares a component with a derived schema of another shape: a number and a warning', () => {
    const derived: [string, ObjectSchema<object>][] = [
      ['shape', issue.shape({ extra: date() })],
      ['partial', issue.partial()],
      ['pick', issue.pick(['id'])],
      ['omit', issue.omit(['id'])],
      ['concat', issue.concat(object({ more: string() }))],
      ['noUnknown', issue.noUnknown()],
    ]
    for (const [name, schema] of derived) {
      const { document, schemas, warnings } = read([
        answering('GET /issues', issue),
        taking('PATCH /issues', schema),
      ])
      expect(sentTo(document, '/issues', 'patch'), name).to.deep.equal(ref('Issue2'))
      expect(schemas.Issue, name).not.to.deep.equal(schemas.Issue2)
      expect(warnings, name).to.have.length(1)
      expect(warnings[0])
        .to.contain('body of PATCH /issues (routes/issues.PATCH.ts)')
        .and.contain("label 'Issue' (response 200 of GET /issues)")
        .and.contain('Issue2')
    }
  })

  it('does not depend on the order of the routes, and not on the order of keys', () => {
    const turned = object({ name: string().required(), id: number().required() }).label('User')
    const routes = [
      answering('GET /a', user),
      answering('GET /b', object({ other: string() }).label('User')),
      answering('GET /c', turned),
      taking('POST /c', turned),
    ]
    const forward = JSON.stringify(read(routes).document)
    expect(JSON.stringify(read(routes.toReversed()).document)).to.equal(forward)
    expect(read(routes).schemas).to.have.all.keys('User', 'User2')
  })

  it('may be a list of values or a list, but not a plain value', () => {
    const status = string().oneOf(['open', 'closed']).label('Status')
    const schema = object({
      now: status.required(),
      before: status.nullable(),
      title: string().label('Title'),
      tags: array(string().required()).label('Tags'),
    })
    const { document, schemas } = read([
      answering('GET /a', schema),
      routeOf('GET /b', { query: object({ status }) }),
    ])
    expect(schemas).to.deep.equal({
      Status: { type: 'string', enum: ['open', 'closed'] },
      Tags: { type: 'array', items: { type: 'string', minLength: 1 } },
    })
    expect(bodyOf(document, '/a').properties.before).to.deep.equal({
      anyOf: [ref('Status'), { type: 'null' }],
    })
    expect(bodyOf(document, '/a').properties.title).to.deep.equal({ type: 'string', title: 'Title' })
    expect(document.paths['/b'].get.parameters).to.deep.equal([
      { name: 'status', in: 'query', schema: ref('Status') },
    ])
  })

  it('has a name that generators accept', () => {
    const named = (label: string): Schema => object({ [label]: string() }).label(label)
    const { schemas, warnings } = read([
      answering('GET /a', named('issue list (short)')),
      answering('GET /b', named('Café')),
      answering('GET /c', named('Problem')),
      answering('GET /d', named('v1.Issue_a-b')),
      answering('GET /e', named('課題')),
    ])
    expect(schemas).to.have.all.keys('IssueListShort', 'Cafe', 'Problem2', 'v1.Issue_a-b', 'Schema')
    expect(schemas.IssueListShort.title).to.equal('issue list (short)')
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.contain('the framework').and.contain('Problem2')
  })

  it('can refer to itself and to another one that refers back', async () => {
    const node = object({
      name: string().required(),
      children: array(lazy((): AnySchema => node.default(undefined))),
    }).label('Node')
    const author = object({ posts: array(lazy((): ObjectSchema<object> => post)) }).label('Author')
    const post = object({ author: lazy((): ObjectSchema<object> => author) }).label('Post')
    const { document, schemas, warnings } = read([
      answering('GET /tree', node),
      taking('POST /tree', node),
      answering('GET /post', post),
      taking('POST /post', post),
    ])
    expect(schemas).to.have.all.keys('Node', 'Author', 'Post')
    expect(schemas.Node.properties.children).to.deep.equal({ type: 'array', items: ref('Node') })
    expect(schemas.Post.properties.author).to.deep.equal(ref('Author'))
    expect(warnings).to.deep.equal([])
    expect(await new Validator().validate(JSON.parse(JSON.stringify(document)))).to.include({ valid: true })
  })

  it('warns of a schema that refers to itself without a label', () => {
    const node: Schema = object({ next: lazy(() => node as never) })
    const { warnings } = read([answering('GET /a', node)])
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.contain('without a label')
  })

  it('ends where functions make further schemas without end', () => {
    const tree = (): Schema =>
      object({ left: lazy(tree as never), right: lazy(() => tree() as never) }).label('Tree')
    const plain = (): Schema => object({ next: lazy(() => plain() as never) })
    const { schemas, warnings } = read([answering('GET /a', tree()), taking('POST /a', tree())])
    expect(Object.keys(schemas).length).to.be.lessThan(100)
    expect(warnings.join()).to.contain('inside itself without end')
    expect(read([answering('GET /a', plain())]).warnings.join()).to.contain('without a label')
  })

  it('leaves its name to the application if a brick uses it too', () => {
    const brick = {
      ...answering('GET /a', object({ theirs: string() }).label('User')),
      origin: 'brick other',
    }
    const { schemas } = read([brick, answering('GET /b', user)])
    expect(schemas.User.properties).to.have.all.keys('id', 'name')
    expect(schemas.User2.properties).to.have.all.keys('theirs')
  })

  it('warns once for each direction of a part that is not shown, however often it is used', () => {
    const odd = object({ a: string().test('odd', 'is odd', () => true) }).label('Odd')
    expect(
      read([answering('GET /a', odd), answering('GET /b', odd), taking('POST /b', odd)]).warnings,
    ).to.have.length(2)
  })
})

describe('A schema of another library', () => {
  it('is a component by its id, or by the title of an object or an enumeration', () => {
    const account = z
      .object({ id: z.string(), plan: z.string().default('free') })
      .meta({ id: 'Account', description: 'Of a user.' })
    const level = z.enum(['low', 'high']).meta({ title: 'Level' })
    const tree = z
      .object({
        title: z.string().meta({ title: 'Its title' }),
        get children() {
          return z.array(tree)
        },
      })
      .meta({ id: 'Tree' })
    const page = z.object({ account, more: z.array(account).nullable(), level, tree })
    const { document, schemas, warnings } = read([
      answering('GET /a', account),
      taking('POST /a', account),
      answering('GET /b', page),
      routeOf('GET /c', { query: z.object({ level }).meta({ title: 'Filter' }) }),
    ])
    expect(schemas).to.have.all.keys('Account', 'AccountInput', 'Level', 'Tree')
    expect(schemas.Account).to.deep.include({ description: 'Of a user.', required: ['id', 'plan'] })
    expect(bodyOf(document, '/a')).to.deep.equal(ref('Account'))
    expect(sentTo(document, '/a')).to.deep.equal(ref('AccountInput'))
    const { more, level: shown } = bodyOf(document, '/b').properties
    expect(more.anyOf[0].items).to.deep.equal(ref('Account'))
    expect(shown).to.deep.equal(ref('Level'))
    expect(schemas.Tree.properties.children.items).to.deep.equal(ref('Tree'))
    expect(document.paths['/c'].get.parameters[0].schema).to.deep.equal(ref('Level'))
    expect(warnings).to.deep.equal([])
  })

  it('are one component in both directions, unless the forms differ by more than the keys that are dropped', () => {
    const cat = z.object({ name: z.string() }).meta({ id: 'Cat' })
    const pet = z.union([cat, z.object({ bark: z.boolean() }).meta({ id: 'Dog' })]).meta({ id: 'Pet' })
    const strict = z.strictObject({ cat }).meta({ id: 'Strict' })
    const dated = z.object({ cat, at: z.number().default(0) }).meta({ id: 'Dated' })
    const all = [pet, strict, dated]
    const { schemas } = read(
      all.flatMap((one, index) => [answering(`GET /${index}`, one), taking(`POST /${index}`, one)]),
    )
    expect(Object.keys(schemas)).to.deep.equal(['Cat', 'Dated', 'DatedInput', 'Dog', 'Pet', 'Strict'])
    expect(schemas.Strict.additionalProperties).to.equal(false)
    for (const name of ['Cat', 'Dated', 'Dog'])
      expect(schemas[name], name).to.not.have.property('additionalProperties')
  })
})
