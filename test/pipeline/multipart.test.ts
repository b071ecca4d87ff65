import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, createRouter, file, UploadedFile } from 'mortar'
import { array, number, object, string } from 'yup'
import { z } from 'zod'
import { throughBothAdapters } from '../support/adapters.ts'
import { recorder } from '../app/recorder.ts'
import { chunkedPost, disposition, multipart, MULTIPART_B, temporaryFiles } from '../support/multipart.ts'
import { rawRequest } from '../support/raw-request.ts'

const shown = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shown)
  if (!(value instanceof UploadedFile)) return value
  return { name: value.originalFilename, type: value.mimetype, text: readFileSync(value.filepath, 'latin1') }
}
const shownAll = (body: object) =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [name, shown(value)]))

const kept: string[] = []

const routes = () =>
  createRouter()
    .post('/any', { consumes: ['Multipart/*'] }, (ctx) => shownAll(ctx.body as object))
    .post('/plain', (ctx) => ({ body: ctx.body ?? 'none' }))
    .post('/json', { body: object({ a: string() }) }, (ctx) => ctx.body)
    .post('/one', { body: object({ title: string(), n: number(), file: file().required() }) }, (ctx) => {
      kept.push(ctx.body.file.filepath)
      return { title: ctx.body.title, n: ctx.body.n, size: ctx.body.file.size }
    })
    .post('/list', { body: object({ files: array(file().required()).min(1).max(2).required() }) }, (ctx) => ({
      sizes: ctx.body.files.map(({ size }) => size),
    }))
    .post(
      '/picture',
      { body: object({ picture: file({ maxSize: 10, types: ['image/*', 'application/pdf'] }).required() }) },
      (ctx) => ({ type: ctx.body.picture.mimetype }),
    )
    .post(
      '/zod',
      {
        consumes: ['multipart/form-data', 'application/json'],
        body: z.object({ file: z.instanceof(UploadedFile), tags: z.array(z.string()) }),
      },
      (ctx) => ({ size: ctx.body.file.size, tags: ctx.body.tags }),
    )
    .post('/throws', { body: object({ file: file().required() }) }, (ctx) => {
      kept.push(ctx.body.file.filepath)
      throw new Error('No.')
    })
    .post('/optional', { body: object({ file: file() }) }, (ctx) => ({
      isThere: ctx.body.file !== undefined,
    }))

interface Sent {
  readonly status: number
  readonly json: Record<string, unknown>
}

describe('A multipart form', () => {
  throughBothAdapters((open) => {
    const serve = async () => {
      const lines: string[] = []
      const { fetch, url } = await open(createApp({ logger: recorder(lines) }).use(routes()))
      const send = async (path: string, body: string | FormData, type?: string): Promise<Sent> => {
        const headers = type === undefined ? {} : { 'content-type': type }
        const response = await fetch(path, { method: 'POST', body, headers })
        return { status: response.status, json: (await response.json()) as Sent['json'] }
      }
      return { send, lines, port: Number(new URL(url).port) }
    }
    const formOf = (...fields: readonly (readonly [string, string | File])[]) => {
      const form = new FormData()
      for (const [name, value] of fields) form.append(name, value)
      return form
    }

    it('is 415 without being read if the route does not declare it', async () => {
      const { send, port } = await serve()
      for (const path of ['/plain', '/json']) {
        const { status, json } = await send(path, formOf(['a', '1']))
        expect([status, json['code']]).to.deep.equal([415, 'unsupported_media_type'])
        expect(json['detail']).not.to.contain('multipart/form-data,')
      }
      const head = `POST /plain HTTP/1.1\r\nHost: x\r\nContent-Type: ${MULTIPART_B}\r\nContent-Length: 99\r\n`
      const { status } = await rawRequest(port, `${head}Connection: close\r\n\r\n`)
      expect(status).to.equal(415)
    })

    it('of a file schema is the only body of its route', async () => {
      const { send } = await serve()
      const imitation = JSON.stringify({ file: { filepath: '/etc/passwd', originalFilename: 'x', size: 1 } })
      expect((await send('/one', imitation, 'application/json')).status).to.equal(415)
      const urlencoded = 'application/x-www-form-urlencoded'
      expect((await send('/one', 'file[filepath]=/etc/passwd', urlencoded)).status).to.equal(415)
      expect((await send('/zod', imitation, 'application/json')).status).to.equal(422)
    })

    it('has fields cast by the schema, and a file that is deleted after the response', async () => {
      const { send } = await serve()
      const form = formOf(['title', 'A'], ['n', '5'], ['file', new File(['hello'], 'a.txt')])
      expect((await send('/one', form)).json).to.deep.equal({ title: 'A', n: 5, size: 5 })
      await eventually(() => !existsSync(kept.at(-1)!))
      expect((await send('/throws', form)).status).to.equal(500)
      await eventually(() => !existsSync(kept.at(-1)!))
    })

    it('with a string, two files or nothing in place of one file is 422', async () => {
      const { send } = await serve()
      const one = new File(['x'], 'x')
      for (const form of [
        formOf(['file', 'text']),
        formOf(['file', one], ['file', one]),
        formOf(['n', '1']),
      ]) {
        const { status, json } = await send('/one', form)
        expect(status).to.equal(422)
        expect((json['errors'] as { path: string }[])[0]!.path).to.equal('file')
      }
      const unchosen = multipart([
        `${disposition('name="file"; filename=""')}\r\nContent-Type: application/octet-stream`,
        '',
      ])
      expect((await send('/one', unchosen, MULTIPART_B)).status).to.equal(422)
      expect((await send('/optional', unchosen, MULTIPART_B)).json).to.deep.equal({ isThere: false })
    })

    it('keeps a file without a name apart from the part before it', async () => {
      const { send } = await serve()
      const body = multipart(
        [disposition('name="title"'), 'A'],
        [disposition('name="unnamed"; filename=""'), 'abc'],
        [disposition('name="last"'), 'B'],
      )
      expect((await send('/any', body, MULTIPART_B)).json).to.deep.equal({
        title: 'A',
        unnamed: { name: '', type: null, text: 'abc' },
        last: 'B',
      })
    })

    it('has a list of one or more files, up to the maximum of the schema', async () => {
      const { send } = await serve()
      const files = (count: number) =>
        formOf(
          ...Array.from({ length: count }, (_, at) => ['files', new File(['x'.repeat(at)], 'x')] as const),
        )
      expect((await send('/list', files(1))).json).to.deep.equal({ sizes: [0] })
      expect((await send('/list', files(2))).json).to.deep.equal({ sizes: [0, 1] })
      expect((await send('/list', files(3))).status).to.equal(422)
      expect((await send('/list', formOf(['a', 'b']))).status).to.equal(422)
      expect((await send('/list', formOf(['files', 'text']))).status).to.equal(422)
      const mixed = formOf(['file', new File(['abc'], 'x')], ['tags', 'one'])
      expect((await send('/zod', mixed)).json).to.deep.equal({ size: 3, tags: ['one'] })
    })

    it('with a file of another type is 422, and with one that is too large 413', async () => {
      const { send } = await serve()
      const picture = (size: number, type: string) =>
        formOf(['picture', new File(['x'.repeat(size)], 'x', { type })])
      for (const type of ['image/png', 'application/pdf'])
        expect((await send('/picture', picture(10, type))).json).to.deep.equal({ type })
      const { status, json } = await send('/picture', picture(10, 'text/html'))
      expect([status, json['errors']]).to.deep.equal([
        422,
        [
          {
            location: 'body',
            path: 'picture',
            rule: 'fileType',
            params: { types: ['image/*', 'application/pdf'] },
            message: 'picture must be of type image/* or application/pdf',
          },
        ],
      ])
      const large = await send('/picture', picture(11, 'image/png'))
      expect([large.status, large.json['code']]).to.deep.equal([413, 'file_too_large'])
    })

    it('keeps every byte of its contents, however its chunks are split', async () => {
      const { port } = await serve()
      const nasty = '\r\n--B\rx\r\n--B-x\r\n--Bx--\r\n--\r\n-\r\r\r\n\n--B--'
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at)).toString('latin1')
      const body = multipart(
        [disposition('name="file"; filename="n"'), nasty],
        [disposition('name="field"'), nasty],
        [disposition('name="bytes"; filename="b"'), bytes],
        [disposition('name="empty"'), ''],
        [disposition('name="none"; filename="none"'), ''],
      )
      for (const size of [1, 2, 7, 31, body.length]) {
        const { text } = await rawRequest(port, chunkedPost('/any', `preamble\r\n${body}epilogue`, size))
        const sent = Buffer.from(/\{.*\}/s.exec(text)![0], 'latin1').toString('utf8')
        const json = JSON.parse(sent) as Record<string, { text: string }>
        expect(json['file']!.text, String(size)).to.equal(nasty)
        expect(json['field']).to.equal(nasty)
        expect(json['bytes']!.text).to.equal(bytes)
        expect([json['empty'], json['none']!.text]).to.deep.equal(['', ''])
      }
    })

    it('has the names that were sent, except names that reach a prototype', async () => {
      const { send } = await serve()
      const read = async (...heads: readonly string[]) =>
        (await send('/any', multipart(...heads.map((head) => [head, 'x'] as const)), MULTIPART_B)).json
      const fileNamed = (name: string) => ({ f: { name, type: null, text: 'x' } })
      expect(await read(disposition('name="a[b]"'), disposition('name=a'))).to.deep.equal({
        'a[b]': 'x',
        a: 'x',
      })
      expect(await read(disposition('name="a%22b%22"'))).to.deep.equal({ 'a"b"': 'x' })
      expect(
        await read('Content-Disposition:Form-Data\t; NAME=a', '', 'Content-Type: text/plain'),
      ).to.deep.equal({
        a: 'x',
      })
      expect(await read(disposition('name=""'))).to.deep.equal({ '': 'x' })
      const typed = `${disposition('name="f"; filename="f"')}\r\nContent-Type: \tText/Plain\t; charset=latin1`
      expect(await read(typed)).to.deep.equal({ f: { name: 'f', type: 'text/plain', text: 'x' } })
      const untyped = `${disposition('name="f"; filename="f"')}\r\nContent-Type: `
      expect(await read(untyped)).to.deep.equal(fileNamed('f'))
      expect(await read(disposition('name="__proto__"'), 'X: y', disposition('name="a"'))).to.deep.equal({
        a: 'x',
      })
      expect(Object.keys(await read(disposition('name="constructor"')))).to.deep.equal(['constructor'])
      expect(await read(disposition('name="a"'), disposition('name="a"'))).to.deep.equal({ a: ['x', 'x'] })
      for (const [sent, name] of [
        ['filename="C:\\dir\\a;b.txt"', 'a;b.txt'],
        ['filename="../../etc/passwd"', 'passwd'],
        ['filename="a%22b\\"c\\"d%22"', 'a"b"c"d"'],
        ['filename=plain', 'plain'],
        ['filename="héé\t語"', 'héé\t語'],
        ["filename*=UTF-8''%e2%82%ac.txt", '€.txt'],
        ["FILENAME*=utf-8'en-GB'..%2Fa%22.txt", 'a".txt'],
        ['filename="kept"; filename*=UTF-8\'\'other', 'kept'],
      ] as const)
        expect(await read(disposition(`name="f"; ${sent}`)), sent).to.deep.equal(fileNamed(name))
    })

    it('has files and fields of one name in the order in which they were sent', async () => {
      const { send } = await serve()
      const { json } = await send('/any', formOf(['a', '1'], ['a', new File(['2'], 'b')], ['a', '3']))
      expect(json['a']).to.deep.equal(['1', { name: 'b', type: 'application/octet-stream', text: '2' }, '3'])
    })

    it('logs no failure when clients disconnect while their files are written', async () => {
      const { port, lines } = await serve()
      const body = multipart([disposition('name="file"; filename="f"'), 'x'.repeat(900_000)])
      const bytes = chunkedPost('/one', body, 60_000)
      for (let round = 0; round < 60; round++) {
        const socket = connect(port, '127.0.0.1')
        await once(socket, 'connect')
        socket.write(bytes)
        await delay(round % 20)
        socket.destroy()
      }
      await eventually(() => temporaryFiles().length === 0)
      expect(lines.filter((line) => line.includes('Request failed'))).to.deep.equal([])
    })

    it('leaves no temporary file when the client disconnects, wherever it stops', async () => {
      const { port } = await serve()
      const body = multipart([disposition('name="file"; filename="f"'), 'x'.repeat(40)])
      const whole = chunkedPost('/one', body, 1_000_000).toString('latin1')
      const start = whole.indexOf('\r\n\r\n') + 4
      await Promise.all(
        Array.from({ length: whole.length - start }, (_, at) =>
          rawRequest(port, whole.slice(0, start + at), 30),
        ),
      )
      await eventually(() => temporaryFiles().length === 0)
      expect(temporaryFiles()).to.deep.equal([])
    })
  })
})

describe('A multipart form of an injected request', () => {
  it('is read like any other form, and its file is deleted afterwards', async () => {
    const app = createApp({ logger: false }).use(routes())
    const headers = { 'content-type': MULTIPART_B }
    const payload = multipart([disposition('name="file"; filename="f"'), 'hello'])
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/one', headers, payload })
    expect([statusCode, JSON.parse(body)]).to.deep.equal([200, { size: 5 }])
    const unencoded = { ...headers, 'content-encoding': 'Identity' }
    const plain = await app.inject({ method: 'POST', url: '/one', headers: unencoded, payload })
    expect(plain.statusCode).to.equal(200)
    const broken = await app.inject({ method: 'POST', url: '/one', headers, payload: payload.slice(0, -5) })
    expect(broken.statusCode).to.equal(400)
    expect((await app.inject({ method: 'POST', url: '/json', headers, payload })).statusCode).to.equal(415)
    await eventually(() => temporaryFiles().length === 0)
    await app.close()
  })
})

async function eventually(holds: () => boolean): Promise<void> {
  for (let round = 0; round < 2000 && !holds(); round++) await delay(5)
  expect(holds()).to.equal(true)
}
