import { createHash, randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, file } from 'mortar'
import { object, string } from 'yup'
import { PartScanner } from '../../src/pipeline/multipart/part-scanner.ts'
import { readForm } from '../../src/pipeline/multipart/read-form.ts'
import { TemporaryFiles } from '../../src/pipeline/multipart/temporary-files.ts'
import { throughBothAdapters } from '../support/adapters.ts'
import { collectGarbage } from '../support/collect-garbage.ts'
import { deferred } from '../support/deferred.ts'
import { disposition, multipart, MULTIPART_B } from '../support/multipart.ts'
import { rawRequest } from '../support/raw-request.ts'

const hash = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex')

/** Bytes with everything that looks like the begin of a boundary. */
function hostileContent(size: number): Buffer {
  const planted = [
    '\r',
    '\n',
    '\r\n',
    '\r\n-',
    '\r\n--',
    '\r\n--A',
    '\r\n--b',
    '--B--\r\n',
    '\r\r\n--',
    '\r\n\r\n--C',
  ]
  const parts = planted.map((text) =>
    Buffer.concat([randomBytes(Math.floor(size / 10) - text.length), Buffer.from(text)]),
  )
  return Buffer.concat(parts)
}

/** A chunked POST of the pieces between the given places. */
function inPieces(path: string, body: Buffer, cuts: readonly number[], type = MULTIPART_B): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`
  const places = [0, ...cuts, body.length]
  const chunks = places.slice(1).flatMap((end, index) => {
    const piece = body.subarray(places[index], end)
    return [Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]
  })
  return Buffer.concat([Buffer.from(head), ...chunks, Buffer.from('0\r\n\r\n')])
}

/** The bytes of all buffers in use. Node frees those of others beside its work, some time after the collection. */
async function bytesOfBuffers(): Promise<number> {
  const found: number[] = []
  for (let turn = 0; turn < 4; turn++) {
    collectGarbage()
    await nextTurn()
    found.push(process.memoryUsage().arrayBuffers)
  }
  return Math.min(...found)
}

describe('The fields of a multipart form', () => {
  it('keep no more memory than their content while further parts arrive', async () => {
    const most = { limit: Infinity, maxFileSize: 0, maxFiles: 0, maxFields: 1000, maxHeaderSize: 1000 }
    const without = '\r\n\r\n' + ' '.repeat(60_000)
    const [form, end] = [`--B${without}\r\n--B\r\n${disposition('name="a"')}\r\n\r\nvalue\r\n`, '--B--']
    let kept = 0
    async function* source(): AsyncGenerator<Buffer, undefined> {
      const before = await bytesOfBuffers()
      for (let part = 0; part < 100; part++) yield Buffer.from(form)
      kept = (await bytesOfBuffers()) - before
      yield Buffer.from(end)
    }
    const rules = { ...most, folder: undefined, sizes: new Map() }
    const values = await readForm(new PartScanner(source(), 'B', most), rules, new TemporaryFiles(undefined))
    expect(values.get('a')).to.have.length(100)
    expect(kept).to.be.below(3e6)
  })

  it('are refused by the first bytes that are wrong, and no others are read', async () => {
    const files = new TemporaryFiles(undefined)
    const upload = `--B\r\n${disposition('name="a"; filename="a"')}\r\n\r\n`
    for (const [begin, maxFileSize, code, pieces] of [
      ['--B\r\n', 0, 'part_header_too_large', 2],
      [upload, 5, 'file_too_large', 1],
      // The second write, of two pieces, exceeds the limit with the first.
      [upload, 12_000, 'file_too_large', 3],
      [`${upload}\r\n--B--`, 5, 'payload_too_large', 5],
      ['--B\r\nNo colon\r\n\r\n', 5, 'malformed_body', 1],
    ] as const) {
      const limits = { limit: 24_000, maxFileSize, maxFiles: 1, maxFields: 9, maxHeaderSize: 6000 }
      const rules = { ...limits, folder: undefined, sizes: new Map() }
      let read = 0
      async function* source(): AsyncGenerator<Buffer, undefined> {
        while (read < 100) yield Buffer.from(`${read++ === 0 ? begin : ''}${'x'.repeat(5000)}`)
      }
      const failure: unknown = await readForm(new PartScanner(source(), 'B', limits), rules, files).catch(
        (error: unknown) => error,
      )
      expect(failure).to.include({ code })
      expect(read, code).to.equal(pieces)
    }
    await files.remove()
  })

  it('fail with the disconnection of the client if their source fails', async () => {
    const limits = { limit: Infinity, maxFileSize: 0, maxFiles: 0, maxFields: 9, maxHeaderSize: 1000 }
    const rules = { ...limits, folder: undefined, sizes: new Map() }
    async function* source(): AsyncGenerator<Buffer, undefined> {
      yield Buffer.from('--B')
      throw new Error('aborted')
    }
    const read = readForm(new PartScanner(source(), 'B', limits), rules, new TemporaryFiles(undefined))
    const failure: unknown = await read.catch((error: unknown) => error)
    expect(failure).to.include({ status: 400, message: 'The client disconnected.' })
  })

  // Node joins pieces of a request that are not read yet, so the scanner gets these itself.
  it('are read back when a piece ends at any byte around a boundary, with headers of the largest size', async () => {
    const maxHeaderSize = disposition('name="a"').length
    const most = { limit: Infinity, maxFileSize: 0, maxFiles: 0, maxFields: 9, maxHeaderSize }
    const rules = { ...most, folder: undefined, sizes: new Map() }
    const [one, two] = ['1', '2'].map((digit) => digit.repeat(5000)) as [string, string]
    const form = Buffer.from(multipart([disposition('name="a"'), one], [disposition('name="b"'), two]))
    const [middle, last] = [form.indexOf('1\r\n--B') + 1, form.indexOf('2\r\n--B') + 1]
    for (const edge of [middle, last])
      for (let cut = edge - 2; cut <= Math.min(edge + 60, form.length); cut++) {
        async function* source(): AsyncGenerator<Buffer, undefined> {
          yield form.subarray(0, cut)
          yield form.subarray(cut)
        }
        const scanner = new PartScanner(source(), 'B', most)
        const values = await readForm(scanner, rules, new TemporaryFiles(undefined))
        expect([...values], `${cut - edge}`).to.deep.equal([
          ['a', [one]],
          ['b', [two]],
        ])
      }
  })
})

describe('A multipart form that arrives in pieces', () => {
  const one = hostileContent(120_000)
  const two = hostileContent(80_000)
  const body = Buffer.from(
    multipart(
      [disposition('name="one"; filename="one.bin"'), one.toString('latin1')],
      [disposition('name="title"'), 'between'],
      [disposition('name="two"; filename="two.bin"'), two.toString('latin1')],
    ),
    'latin1',
  )
  const expected = JSON.stringify({
    one: hash(one) + one.length,
    two: hash(two) + two.length,
    title: 'between',
  })
  const routes = () =>
    createRouter().post(
      '/',
      { body: object({ one: file().required(), two: file().required(), title: string().required() }) },
      async ({ body: { one: first, two: second, title } }) => ({
        one: hash(await readFile(first.filepath)) + first.size,
        two: hash(await readFile(second.filepath)) + second.size,
        title,
      }),
    )

  throughBothAdapters((open) => {
    for (const size of [1, 100, 4095, 4096, 4097, 60_069])
      it(`is read back with equal bytes, in pieces of ${size} bytes`, async () => {
        const { url } = await open(createApp({ logger: false }).use(routes()))
        const cuts = Array.from(
          { length: Math.ceil(body.length / size) - 1 },
          (_, index) => (index + 1) * size,
        )
        const { status, text } = await rawRequest(Number(new URL(url).port), inPieces('/', body, cuts))
        expect(text).to.contain(expected)
        expect(status).to.equal(200)
      })

    it('ends its request when the client leaves in the middle', async () => {
      const ended = deferred<unknown>()
      const app = createApp({ logger: false }).use(async (_ctx, next) => {
        await next().catch(ended.resolve)
      })
      const { url } = await open(app.use(routes()))
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.write(inPieces('/', body, [1000]).subarray(0, 5000), () =>
        setTimeout(() => socket.destroy(), 20),
      )
      const late = new AbortController()
      const outcome = await Promise.race([ended.promise, wait(120_000, 'late', { signal: late.signal })])
      late.abort()
      expect(outcome).to.include({ code: 'malformed_body' })
    })
  })
})

describe('The headers of a multipart form', () => {
  throughBothAdapters((open) => {
    const serve = async () => {
      const app = createApp({ logger: false }).use(
        createRouter().post('/', { consumes: ['multipart/form-data'] }, async (ctx) => {
          const { f } = ctx.body as { f: { originalFilename: string; mimetype: string; filepath: string } }
          if (typeof f === 'string') return f
          return [f.originalFilename, f.mimetype, ((await stat(f.filepath)).mode & 0o777).toString(8)].join(
            ' ',
          )
        }),
      )
      const { url } = await open(app)
      return async (type: string, form: string): Promise<string> => {
        const request = inPieces('/', Buffer.from(form), [], type)
        const { status, text } = await rawRequest(Number(new URL(url).port), request)
        return status === 200 ? text.slice(text.indexOf('\r\n\r\n') + 4) : String(status)
      }
    }

    it('take the boundary as a quote-aware reader does', async () => {
      const answer = await serve()
      const form = multipart([disposition('name="f"'), 'content'])
      for (const type of [
        'multipart/form-data; boundary=B',
        'multipart/form-data;boundary="B"',
        'multipart/form-data ; x= ;\tboundary=B',
        'Multipart/Form-Data\t;\tboundary="B" ;y=""',
        'multipart/form-data; BOUNDARY=B; charset=utf-8',
        'multipart/form-data; charset="utf-8"; boundary=B',
        'multipart/form-data; boundary=B;',
        'multipart/form-data; x=";boundary=C"; boundary=B',
        String.raw`multipart/form-data; x="\";boundary=C"; boundary=B`,
      ])
        expect(await answer(type, form), type).to.contain('content')
      for (const type of [
        'multipart/form-data',
        'multipart/form-data; boundary=',
        'multipart/form-data; boundary=B; boundary=C',
        'multipart/form-data; x=";boundary=B',
        'multipart/form-data; x=";boundary=B"',
        'multipart/form-data; boundary=B ; =x',
        `multipart/form-data; boundary=${'B'.repeat(71)}`,
      ])
        expect(await answer(type, form), type).to.equal('400')
    })

    it('give a file its name without folders, its type in lower case, and a mode for its owner alone', async () => {
      const answer = await serve()
      for (const [name, expected] of [
        ['a.txt', 'a.txt'],
        ['../../a.txt', 'a.txt'],
        ['C:\\\\x\\\\a.txt', 'a.txt'],
        ['..', '_'],
        ['.', '_'],
        ['../..', '_'],
        ['...', '...'],
        ['.env', '.env'],
        ['a%22b', 'a"b'],
        ['\u2028/../a.txt', 'a.txt'],
      ] as const) {
        const head = `${disposition(`name="f"; filename="${name}"`)}\r\nContent-Type: Text/HTML; charset=latin1`
        expect(await answer(MULTIPART_B, multipart([head, 'x'])), name).to.equal(`${expected} text/html 600`)
      }
    })

    it('allow the encodings that change no byte, and the charsets that are UTF-8', async () => {
      const answer = await serve()
      const withHeader = (header: string) => multipart([`${disposition('name="f"')}\r\n${header}`, 'x'])
      for (const [header, expected] of [
        ['Content-Transfer-Encoding: 7bit', 'x'],
        ['Content-Transfer-Encoding: 8BIT', 'x'],
        ['Content-Transfer-Encoding: binary', 'x'],
        ['Content-Transfer-Encoding: base64', '400'],
        ['Content-Type: text/plain; charset=us-ascii', 'x'],
        ['Content-Type: text/plain; charset="UTF-8"', 'x'],
        ['Content-Type: text/plain; charset=UTF8', 'x'],
        ['Content-Type: text/plain;charset=latin1', '415'],
        ['Content-Type: text/plain; CharSet="latin1"', '415'],
        ['Content-Type: text/plain; x=y;\tcharset=latin1', '415'],
        ['Content-Type: text/plain; charset=latin1', '415'],
      ] as const)
        expect(await answer(MULTIPART_B, withHeader(header)), header).to.contain(expected)
    })
  })
})
