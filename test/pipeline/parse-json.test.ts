import { expect } from 'chai'
import { HttpError, ValidationFailed } from 'mortar'
import { object, string } from 'mortar/yup'
import { compileJsonReader } from '../../src/pipeline/json-reader.ts'
import { parseJson } from '../../src/pipeline/parse-json.ts'

const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth)
const outcome = (text: string): unknown => {
  try {
    return parseJson(text)
  } catch (error) {
    return error instanceof HttpError ? `${error.status} ${error.code}` : error
  }
}

describe('The JSON of a body', () => {
  const LONG = ' '.repeat(3000)

  it('may be nested 1,000 levels deep and not 1,001, however long the text is', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
      ['[{"a":', '}]'],
    ] as const)
      for (const padding of ['', LONG]) {
        const [per, core] = [open.startsWith('[{') ? 2 : 1, open === '[' ? '' : '1']
        const text = (levels: number) =>
          `${padding}${open.repeat(levels / per)}${core}${close.repeat(levels / per)}`
        expect(outcome(text(1000)), open).to.be.an(open === '{"a":' ? 'object' : 'array')
        expect(outcome(text(1000 + per)), open).to.equal('400 malformed_body')
      }
    expect(outcome(nested('[', ']', 400_000))).to.equal('400 malformed_body')
    expect(outcome('['.repeat(400_000))).to.equal('400 malformed_body')
    expect(outcome(`{"__proto__":${nested('[', ']', 5000)}}`)).to.equal('400 malformed_body')
  })

  it('may be of any width, since closed levels do not count', () => {
    for (const item of ['[]', '{}', '[[1]]', '{"a":{"b":[]}}']) {
      const text = `[${Array.from({ length: 3000 }, () => item).join(',')}]`
      expect(outcome(text)).to.deep.equal(JSON.parse(text))
    }
    const brackets = JSON.stringify(`\\"${'[{'.repeat(5000)}`)
    expect(outcome(brackets)).to.equal(JSON.parse(brackets))
  })

  it('has no key __proto__, however it is spelt and wherever it is', () => {
    const spellings = [
      '__proto__',
      String.raw`\u005f_proto__`,
      String.raw`\u005F\u005f\u0070\u0072\u006f\u0074\u006F\u005f\u005F`,
      String.raw`__pr\u006Fto__`,
      String.raw`__\u0070roto__`,
      String.raw`__proto\u005F_`,
    ]
    for (const key of spellings)
      for (const padding of ['', LONG]) {
        const text = `${padding}[{"a":1,"${key}":{"b":2},"c":{"${key}":{"d":3}}}]`
        const [value] = outcome(text) as [{ c: object }]
        expect(Object.keys(value), text).to.deep.equal(['a', 'c'])
        expect(Object.keys(value.c)).to.deep.equal([])
        expect(Object.getPrototypeOf(value)).to.equal(Object.prototype)
      }
    expect(({} as Record<string, unknown>)['b']).to.equal(undefined)
  })

  it('keeps text that only looks like the key', () => {
    const text = String.raw`{"proto":"__proto__","__proto":"\u005f_proto__","constructor":{"prototype":1}}`
    expect(outcome(text)).to.deep.equal(JSON.parse(text))
    expect(outcome('"__proto__"')).to.equal('__proto__')
  })

  it('may begin with a byte order mark, and is undefined when the body is empty', () => {
    expect(outcome('\ufeff{"a":1}')).to.deep.equal({ a: 1 })
    expect(outcome('\ufeff\ufeff{}')).to.equal('400 malformed_body')
    for (const empty of ['', ' ', '\r\n\t', '\ufeff', '\ufeff \n']) expect(outcome(empty)).to.equal(undefined)
    for (const scalar of ['null', '0', 'false', '""']) expect(outcome(scalar)).to.equal(JSON.parse(scalar))
    expect(outcome('{"secret":')).to.equal('400 malformed_body')
  })
})

describe('compileJsonReader', () => {
  const paths = (error: unknown): unknown =>
    error instanceof ValidationFailed ? error.errors.map(({ location, path }) => [location, path]) : error
  const known = async (name: string | undefined): Promise<boolean> => name !== 'nobody'
  const schemas = {
    'a schema': object({ text: string().required(), to: string().required() }),
    'a schema that waits': object({
      text: string().required().test(known),
      to: string().required().test(known),
    }),
  }
  for (const [name, schema] of Object.entries(schemas))
    it(`refuses text with every broken rule of ${name}`, async () => {
      const read = compileJsonReader(schema)
      const result = async (text: string): Promise<unknown> => read(text)
      const odd = '{"text":"\\u0000","to":"\\ud800"}'
      for (const text of ['{}', odd, ...(name === 'a schema' ? [] : ['{"text":"nobody","to":"nobody"}'])])
        expect(await result(text).catch(paths), text).to.deep.equal([
          ['body', 'text'],
          ['body', 'to'],
        ])
      const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}\0`, 1]))
      expect(await result(JSON.stringify(many)).catch(paths), 'odd keys').to.have.length(20)
      expect(await result('{"text":"a","to":"b","__proto__":{}}')).to.deep.equal({ text: 'a', to: 'b' })
    })
})
