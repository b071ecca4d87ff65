import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect } from 'chai'
import { createApp, createRouter } from 'mortar'
import { createClient } from 'mortar/testing'
import * as yup from 'yup'
import { findYupFault, isKnownYup } from '../../src/compat/yup-self-test.ts'
import { compileValidator } from '../../src/schema/compile-validator.ts'
import { compileYup } from '../../src/schema/yup/compile-yup.ts'
import { Invalid } from '../../src/schema/invalid.ts'
import { builtFramework } from '../support/built-framework.ts'
import { bundleScript } from '../support/bundle-script.ts'
import { changedModule } from '../support/changed-module.ts'

const ROOT = join(import.meta.dirname, '../..')
const FILE = createRequire(import.meta.url).resolve('yup')
const SOURCE = readFileSync(FILE, 'utf8')

/** The parts of the OpenAPI document that the tests read. */
interface OpenApi {
  readonly paths: Record<
    string,
    { post: { requestBody: { content: Record<string, { schema: Described }> } } }
  >
}

interface Described {
  readonly properties: Record<string, { type: string; enum?: string[] }>
}

/** yup from a changed source. */
const doctored = (change: (source: string) => string): typeof yup => changedModule(FILE, change) as typeof yup

describe('The parts of yup that are read beyond its interface', () => {
  it('exist in the installed version', () => {
    expect(findYupFault(yup)).to.equal(undefined)
    expect(findYupFault(doctored((source) => `${source}\n// the next version`))).to.equal(undefined)
  })

  const changes: Record<string, [change: (source: string) => string, fault: string]> = {
    'another name for the lists': [
      (source) => source.replaceAll('_whitelist', '_allowed'),
      'the values of oneOf() and notOneOf()',
    ],
    'another name for the refused values': [
      (source) => source.replaceAll('_blacklist', '_refused'),
      'the values of oneOf() and notOneOf()',
    ],
    'another name for the first tests': [
      (source) => source.replaceAll('internalTests', 'firstTests'),
      'the tests that run first',
    ],
    'another name for the conditions': [
      (source) => source.replaceAll('.conditions', '.rules'),
      'the conditions of when()',
    ],
    'another name for the mark of a validation': [
      (source) => source.replaceAll('__validating', '__checking'),
      'the cast of strict members',
    ],
    'another name for the check of a type': [
      (source) => source.replaceAll('_typeCheck', '_check'),
      'the check of a type',
    ],
    'another name for the builder': [
      (source) => source.replaceAll('.builder', '.make'),
      'the function of lazy()',
    ],
    'another name for what a lazy schema returns': [
      (source) => source.replaceAll('_resolve', '_settle'),
      'the function of lazy()',
    ],
    'another mark of references': [(source) => source.replaceAll('__isYupRef', '__ref'), 'references'],
    'another name for the validation': [
      (source) => source.replaceAll('_validate', '_check'),
      'the validation without exceptions',
    ],
    'another name for the runner of tests': [
      (source) => source.replaceAll('runTests', 'runAll'),
      'the validation without exceptions',
    ],
    'another name for the test of a member': [
      (source) => source.replaceAll('asNestedTest', 'asMember'),
      'the validation of members',
    ],
  }
  for (const [name, [change, fault]] of Object.entries(changes))
    it(`are reported as missing: ${name}`, () => {
      expect(findYupFault(doctored(change))).to.equal(fault)
    })

  it('are not changed for other users of yup', () => {
    const schema = yup.object({ list: yup.array(yup.lazy(() => yup.string().url().required())) })
    const result = compileValidator(schema, 'body').validate({ list: ['//a', '', 'b'] })
    expect(result).to.be.instanceOf(Invalid)
    const { runTests, asNestedTest, resolve } = yup.Schema.prototype as unknown as Record<string, unknown>
    for (const method of [runTests, asNestedTest, resolve]) expect(SOURCE).to.contain(String(method))
  })
})

describe('A schema of another copy of yup', () => {
  const sameCode = doctored((source) => `${source}\n// another copy`)
  const otherCode = doctored((source) => source.replaceAll('internalTests', 'firstTests'))
  const otherRunner = doctored((source) => source.replace("path = '',", "path = '' ,"))
  const schemaOf = ({ object, string, number, array, mixed, lazy }: typeof yup) => ({
    plain: object({ id: number().integer().required(), list: array(string().max(3)), any: mixed() }),
    lazy: object({ id: lazy(() => number().required()) }),
  })
  const asCompiled = (schema: unknown) => compileYup(schema as Parameters<typeof compileYup>[0], false)

  it('is compiled if the code of the copy is the same', async () => {
    const { plain } = schemaOf(sameCode)
    expect(plain).not.to.be.instanceOf(yup.ObjectSchema)
    expect(asCompiled(plain)).to.be.a('function')
    expect(await compileValidator(plain, 'body').validate({ id: 1.5, list: ['abcd'] })).to.deep.equal(
      await compileValidator(schemaOf(yup).plain, 'body').validate({ id: 1.5, list: ['abcd'] }),
    )
  })

  it('is not compiled if it is of a class of the application', () => {
    class Own extends sameCode.StringSchema {}
    expect(asCompiled(sameCode.object({ a: new Own() }))).to.equal(undefined)
    expect(
      asCompiled(sameCode.object({ a: sameCode.mixed({ check: (value): value is 1 => value === 1 }) })),
    ).to.equal(undefined)
  })

  for (const [name, other] of Object.entries({
    'another class': otherCode,
    'another runner of tests': otherRunner,
  }))
    it(`is validated by that copy alone if it has ${name}, as a member too`, async () => {
      const { plain, lazy } = schemaOf(other)
      for (const schema of [plain, lazy, yup.object({ inner: plain, list: yup.array(lazy) })])
        expect(
          isKnownYup(schema as unknown as Parameters<typeof isKnownYup>[0]),
          schema.describe().type,
        ).to.equal(false)
      expect(await compileValidator(plain, 'body').validate({ id: '7', list: [] })).to.deep.equal({
        id: 7,
        list: [],
      })
      const { issues } = (await compileValidator(plain, 'body').validate({ id: 'x' })) as Invalid
      expect(issues.map(({ path }) => path)).to.deep.equal(['id'])
    })
})

describe('An application whose schemas have other internals', () => {
  for (const [name, change] of Object.entries({
    'another name for the lists': (source: string) => source.replaceAll(/_(?:white|black)list/g, '$&Of'),
    'another name for the first tests': (source: string) => source.replaceAll('internalTests', 'firstTests'),
    'another name for the conditions': (source: string) => source.replaceAll('.conditions', '.rules'),
    'another name for the check of a type': (source: string) => source.replaceAll('_typeCheck', '_check'),
  }))
    it(`describes them and treats inherited names as data: ${name}`, async () => {
      const other = doctored(change)
      const color = other.string().oneOf(['red', 'blue']).required()
      const ruled = { id: other.string().uuid(), at: other.date(), n: other.number().integer() }
      const body = other.object({
        color,
        constructor: other.string(),
        when: other.string(),
        list: other.array(other.object(ruled)),
      }) as unknown as yup.ObjectSchema<object>
      const app = createApp({ logger: false }).use(
        createRouter().post('/colors', { body, response: { 200: body } }, (ctx) => ctx.body),
      )
      const client = createClient(app)
      const document = (await client.get('/openapi.json')).body as OpenApi
      const schema = document.paths['/colors']!.post.requestBody.content['application/json']!.schema
      expect(schema.properties['color']).to.include({ type: 'string' })
      expect(schema.properties['color']!.enum).to.deep.equal(['red', 'blue'])
      const sent = JSON.parse('{"color":"red","toString":1,"__proto__":{"a":1}}') as object
      const found = await client.post('/colors', sent)
      expect([found.status, found.body]).to.deep.equal([200, { color: 'red' }])
      expect((await client.post('/colors', { color: 'black' })).status).to.equal(422)
      const id = '0190a1b2-3c4d-7e5f-8a6b-0123456789ab'
      for (const [item, status] of [
        [{ id, at: '2026-10-25T01:30:00Z', n: 1 }, 200],
        [{ at: '5' }, 422],
        [{ at: '2026-02-30' }, 422],
        [{ n: 2 ** 53 }, 422],
      ] as const)
        expect((await client.post('/colors', { color: 'red', list: [item] })).status).to.equal(status)
      await app.close()
    })
})

describe('A version of yup with other internals', () => {
  for (const [from, to] of [
    ['internalTests', 'firstTests'],
    ['_typeCheck', '_check'],
  ] as const)
    it(`starts, describes schemas and reads forms if ${from} has another name`, () => {
      const framework = join(builtFramework(), 'mortar/dist')
      const script = `
        import Module, { createRequire } from 'node:module'
        import { readFileSync } from 'node:fs'
        const file = createRequire(process.cwd() + '/x.js').resolve('yup')
        const compile = Module.prototype._compile
        Module.prototype._compile = function (source, name, ...rest) {
          return compile.call(this, name === file ? source.replaceAll('${from}', '${to}') : source, name, ...rest)
        }
        const { createApp, createRouter, file: upload } = await import('${framework}/index.js')
        const { createClient } = await import('${framework}/testing/index.js')
        const { object, string } = createRequire(process.cwd() + '/x.js')('yup')
        const body = object({ title: string().oneOf(['a', 'b']).required(), doc: upload().required(), id: string().uuid() })
        const app = createApp({ logger: false }).use(createRouter().post('/', { body }, (ctx) => ctx.body.doc.size))
        const client = createClient(app)
        const { body: document } = await client.get('/openapi.json')
        const form = new FormData()
        form.set('title', 'a')
        form.set('id', '0190a1b2-3c4d-7e5f-8a6b-0123456789ab')
        form.set('doc', new File(['four'], 'a.txt'))
        const { schema } = document.paths['/'].post.requestBody.content['multipart/form-data']
        console.log(schema.properties.title.enum.join(), (await client.post('/', form)).text)
        await app.close()`
      const args = ['--input-type=module', '-e', script]
      const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
      expect(stdout.trim(), stderr).to.equal('a,b 4')
      expect(stderr.match(/YUP_DIFFERS/g)).to.have.length(1)
    })

  it('validates through its interface alone, in linear time, and is reported once', async () => {
    const script = await bundleScript(join(ROOT, 'test/fixtures/schema/other-yup.ts'))
    const { stdout, stderr } = spawnSync(process.execPath, [script], {
      encoding: 'utf8',
      timeout: 170_000,
    })
    expect(stdout.trim(), stderr).to.equal(
      '{"name":"abc"} ["name","page"] ["link"] {"name":"a","page":2} {"name":"a"}',
    )
    expect(stderr.match(/YUP_DIFFERS/g)).to.have.length(1)
    expect(stderr).to.contain('differs from 1.7 in the values of oneOf() and notOneOf()')
  })
})
