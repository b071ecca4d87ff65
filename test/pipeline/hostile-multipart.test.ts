import { expect } from 'chai'
import { createApp, createRouter, file, StartupError, type MultipartOptions } from 'mortar'
import { array, object } from 'yup'
import { throughBothAdapters } from '../support/adapters.ts'
import { chunkedPost, disposition, multipart, MULTIPART_B, temporaryFiles } from '../support/multipart.ts'
import { rawRequest } from '../support/raw-request.ts'

const consumes = ['multipart/form-data', 'application/x-www-form-urlencoded']
const FORM = 'application/x-www-form-urlencoded'

const routes = () =>
  createRouter()
    .post('/form', { consumes }, (ctx) => Object.keys(ctx.body as object).length)
    .post('/small', { consumes, bodyLimit: 2000 }, () => 'read')
    .post(
      '/own',
      { consumes, multipart: { maxFields: 2, maxFiles: 1, maxFileSize: 5, maxHeaderSize: 100 } },
      () => 'read',
    )
    .post('/text', { consumes: [FORM], multipart: { maxFields: 1 } }, () => 'read')
    .post('/alone', { consumes, multipart: { maxFields: 1 } }, () => 'read')
    .post('/none', { consumes, multipart: { maxFields: 0, maxFiles: 1, maxFileSize: 0 } }, () => 'read')
    .post('/byte', { consumes, multipart: { maxFileSize: 1 } }, () => 'read')
    .post('/both', { body: object({ f: file({ maxSize: 9 }) }), multipart: { maxFileSize: 3 } }, () => 'read')
    .post('/files', { body: object({ f: array(file()) }) }, () => 'read')
    .get('/query', (ctx) => Object.keys(ctx.query).length)

const field = (name: string) => [disposition(`name="${name}"`), 'x'] as const
const upload = (name: string, content = 'x') =>
  [disposition(`name="${name}"; filename="f"`), content] as const
const many = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at))

describe('A hostile multipart form', () => {
  throughBothAdapters((open) => {
    const serve = async (options: { multipart?: MultipartOptions; bodyLimit?: string } = {}) => {
      const { fetch, url } = await open(createApp({ logger: false, ...options }).use(routes()))
      const send = async (path: string, body: string | undefined, type = MULTIPART_B) => {
        const init = body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': type } }
        const response = await fetch(path, init)
        if (response.status === 200) return '200'
        return `${response.status} ${((await response.json()) as { code: string }).code}`
      }
      return { send, port: Number(new URL(url).port) }
    }

    it('is limited by all its bytes, in any part and however it is sent', async () => {
      const { port } = await serve()
      const long = 'x'.repeat(3000)
      const small = multipart(field('a'))
      for (const body of [
        `${long}\r\n${small}`,
        `${small}${long}`,
        multipart([disposition(`name="a"\r\nX-Long: ${long}`), '']),
        multipart(['X-Nameless: 1', long]),
        multipart([disposition('name="__proto__"'), long]),
        multipart(upload('f', long)),
        multipart([disposition('name="f"; filename=""'), long]),
        multipart(...many(60, (at) => field(String(at)))),
        `--B${'\r\n--B'.repeat(600)}`,
        long,
      ])
        for (const size of [100, 5000]) {
          const { text, status } = await rawRequest(port, chunkedPost('/small', body, size))
          expect(status, body.slice(0, 80)).to.equal(413)
          expect(text).to.include('payload_too_large').and.include('The body is larger than 2000 bytes.')
        }
    })

    it('is read at its limit of bytes exactly, and rejected with one more, however it is sent', async () => {
      const { port } = await serve()
      const padded = (size: number) => {
        const empty = multipart([disposition('name="a"'), '']).length
        return multipart([disposition('name="a"'), 'x'.repeat(size - empty)])
      }
      for (const size of [1, 100, 5000])
        for (const [length, expected] of [
          [2000, 200],
          [2001, 413],
        ] as const) {
          const { status } = await rawRequest(port, chunkedPost('/small', padded(length), size))
          expect(status, `${length} in pieces of ${size}`).to.equal(expected)
        }
    })

    it('is rejected beyond each limit with the code of that limit', async () => {
      const { send } = await serve()
      const header = (size: number) => [`${disposition('name="a"')}\r\nX: ${'x'.repeat(size)}`, ''] as const
      const room = 16 * 1024 - `${disposition('name="a"')}\r\nX: `.length
      for (const [form, result] of [
        [multipart(...many(1000, (at) => field(`n${at}`))), '200'],
        [multipart(...many(1001, () => field('same'))), '413 too_many_fields'],
        [multipart(...many(1001, () => ['X: nameless', ''] as const)), '413 too_many_fields'],
        [multipart(...many(10, (at) => upload(`n${at}`))), '200'],
        [multipart(...many(11, () => upload('same'))), '413 too_many_files'],
        [multipart(...many(11, () => [disposition('filename=""'), ''] as const)), '413 too_many_files'],
        [multipart(header(room)), '200'],
        [multipart(header(room + 1)), '413 part_header_too_large'],
        [`--B\r\n${'x'.repeat(20_000)}`, '413 part_header_too_large'],
        [
          multipart([
            `Content-Disposition: form-data; name="a"; filename="${'filename="'.repeat(10_000)}`,
            '',
          ]),
          '413 part_header_too_large',
        ],
      ] as const)
        expect(await send('/form', form), form.slice(0, 60)).to.equal(result)
    })

    it('has the limits of its route, else of its application', async () => {
      const { send } = await serve({ multipart: { maxFields: 3, maxFileSize: '1kb' } })
      const fields = (count: number) => multipart(...many(count, (at) => field(`n${at}`)))
      for (const [path, form, result] of [
        ['/own', fields(2), '200'],
        ['/own', fields(3), '413 too_many_fields'],
        ['/own', multipart(upload('a'), upload('b')), '413 too_many_files'],
        ['/own', multipart(upload('a', '12345')), '200'],
        ['/own', multipart(upload('a', '123456')), '413 file_too_large'],
        ['/own', multipart([disposition('name="a"'), '123456']), '200'],
        ['/none', multipart(upload('a', '')), '200'],
        // The smaller of the limits of the route and of the schema holds.
        ['/both', multipart(upload('f', '123')), '200'],
        ['/both', multipart(upload('f', '1234')), '413 file_too_large'],
        ['/own', multipart([disposition(`name="${'a'.repeat(100)}"`), '']), '413 part_header_too_large'],
        ['/form', fields(3), '200'],
        ['/form', fields(4), '413 too_many_fields'],
        ['/form', multipart(upload('a', 'x'.repeat(1024))), '200'],
        ['/form', multipart(upload('a', 'x'.repeat(1025))), '413 file_too_large'],
      ] as const)
        expect(await send(path, form), form.slice(0, 60)).to.equal(result)
    })

    it('is rejected with the reason in words, and with the begin of a long name', async () => {
      const { fetch } = await open(createApp({ logger: false }).use(routes()))
      const part = (head: string) => multipart([head, ''])
      const long = multipart([disposition(`name="${'n'.repeat(300)}"; filename="f"`), '12'])
      for (const [path, body, detail] of [
        ['/own', multipart(upload('a'), upload('b')), 'The form has more than 1 file.'],
        ['/own', multipart(...many(3, () => field('a'))), 'The form has more than 2 fields.'],
        ['/byte', long, `The file in the field '${'n'.repeat(100)}' is larger than 1 bytes.`],
        ['/alone', multipart(field('a'), field('b')), 'The form has more than 1 field.'],
        ['/alone', 'a=1&b=2', 'The form has more than 1 field.'],
        ['/text', 'a=1&b=2', 'The form has more than 1 field.'],
        ['/own', 'a=1&b=2&c=3', 'The form has more than 2 fields.'],
        ['/none', multipart(field('a')), 'The form has more than 0 fields.'],
        ['/none', multipart(upload('f', '1')), "The file in the field 'f' is larger than 0 bytes."],
        ['/own', part(`X: ${'x'.repeat(98)}`), 'The headers of a part are larger than 100 bytes.'],
        [
          '/form',
          part(disposition('name="a"; NAME="b"')),
          'A part of the form repeats a parameter of its Content-Disposition header.',
        ],
        [
          '/form',
          part(disposition('name="a')),
          'A part of the form has a malformed Content-Disposition header.',
        ],
        ['/form', part('X: y\r\nx: y'), 'A part of the form repeats a header.'],
        ['/form', part('X y'), 'A part of the form has a malformed header.'],
        ['/form', part('Content-Disposition: file'), 'A part of the form is not form-data.'],
        [
          '/form',
          part(disposition("filename*=utf-8''%")),
          'A part of the form has a malformed filename* parameter.',
        ],
        ['/form', part('X: y').slice(0, -6), 'The form ends before its closing boundary.'],
      ] as const) {
        const type = body.startsWith('--') ? MULTIPART_B : FORM
        const response = await fetch(path, { method: 'POST', body, headers: { 'content-type': type } })
        expect(((await response.json()) as { detail: string }).detail).to.equal(detail)
      }
    })

    it('that cannot be read is 400', async () => {
      const { send } = await serve()
      const ok = disposition('name="a"')
      for (const form of [
        '',
        'x',
        '--B',
        '--B\r\n',
        '--B-',
        `--B\r\n${ok}\r\n\r\nx`,
        `--B\r\n${ok}\r\n\r\nx\r\n--B`,
        `--B\n${ok}\n\nx\n--B--\n`,
        multipart([`${ok}\nX: y`, '']),
        multipart([`${ok}\r\n folded`, '']),
        multipart([`${ok}\r\nNo colon`, '']),
        multipart([`${ok}\r\n${ok}`, '']),
        ...['\0', '\b', '\n', '\v', '\r', '\u001f', '\u007f'].map((control) =>
          multipart([`${ok}\r\nX: ${control}.`, '']),
        ),
        multipart([disposition('name="a"; name="b"'), '']),
        multipart([disposition('name="a"; filename="open'), '']),
        multipart([disposition("name=a; filename*=UTF-8''%zz"), '']),
        multipart([disposition("name=a; filename*=UTF-8''%00"), '']),
        multipart([disposition("name=a; filename*=latin1''x"), '']),
        multipart(['Content-Disposition: attachment; name="a"', '']),
        ...['base64', 'quoted-printable', 'nope'].map((encoding) =>
          multipart([`${ok}\r\nContent-Transfer-Encoding: ${encoding}`, '']),
        ),
      ])
        if (form !== '')
          expect(await send('/form', form), JSON.stringify(form)).to.equal('400 malformed_body')
    })

    it('with another charset or bytes that are not UTF-8 is refused', async () => {
      const { send, port } = await serve()
      const charset = [`${disposition('name="a"')}\r\nContent-Type: text/plain; charset=utf-16`, ''] as const
      expect(await send('/form', multipart(charset))).to.equal('415 unsupported_media_type')
      for (const part of [field('\xe9'), [disposition('name="a"'), '\xe9'] as const]) {
        const { status } = await rawRequest(port, chunkedPost('/form', multipart(part), 1000))
        expect(status).to.equal(400)
      }
    })

    it('has a boundary of 1 to 70 characters', async () => {
      const { send } = await serve()
      const typed = (boundary: string) => `multipart/form-data; boundary=${boundary}`
      const body = (boundary: string) =>
        multipart([disposition('name="a"'), '1']).replaceAll('--B', `--${boundary.replaceAll('"', '')}`)
      const long = 'b'.repeat(70)
      expect(await send('/form', body(long), typed(long))).to.equal('200')
      expect(await send('/form', body('a b'), typed('"a b"'))).to.equal('200')
      for (const boundary of [`${long}b`, '', '""', '"a "', '"a\tb"', 'a<b'])
        expect(await send('/form', body(boundary), typed(boundary)), boundary).to.equal('400 malformed_body')
      expect(await send('/form', body('B'), 'multipart/form-data')).to.equal('400 malformed_body')
    })

    // Bytes without an end: nothing more comes, and the request is not over.
    for (const [what, code, parts] of [
      ['a file that is too large', 'file_too_large', [upload('f', 'x'.repeat(20_000))]],
      ['a malformed header', 'malformed_body', [['No colon', 'x'.repeat(20_000)]]],
      ['a header that is too large', 'part_header_too_large', [['X', 'x'.repeat(20_000)]]],
      ['too many fields', 'too_many_fields', many(500, (at) => field(String(at)))],
    ] as readonly (readonly [string, string, readonly (readonly [string, string])[]])[])
      it(`is refused for ${what} before its client sends more`, async () => {
        const { port } = await serve()
        const form = multipart(...parts)
        const body = code === 'part_header_too_large' ? form.replaceAll('\r\n\r\n', '') : form
        const bytes = chunkedPost('/own', body, 1000)
        const { text } = await rawRequest(port, bytes.subarray(0, -'0\r\n\r\n'.length))
        expect(text).to.contain(`"code":"${code}"`)
      })

    it('leaves no temporary file, and creates none beyond the number of files', async () => {
      const { send } = await serve()
      const files = many(10, () => upload('f', 'x'.repeat(5000)))
      for (const form of [
        multipart(...files, upload('f')),
        multipart(...files, ['No colon', '']),
        multipart(...files).slice(0, -3),
      ])
        expect(await send('/files', form)).to.match(/^4/)
      expect(temporaryFiles()).to.deep.equal([])
    })

    it('has the same limit of fields for a urlencoded form and of parameters for a query', async () => {
      const { send } = await serve()
      const pairs = (count: number) => many(count, (at) => `k${at}=v`).join('&')
      expect(await send('/form', pairs(1000), FORM)).to.equal('200')
      expect(await send('/form', pairs(1001), FORM)).to.equal('413 too_many_fields')
      expect(await send('/own', 'a=1&b=2&c=3', FORM)).to.equal('413 too_many_fields')
      expect(await send(`/query?${pairs(1000)}`, undefined)).to.equal('200')
      expect(await send(`/query?${pairs(1001)}`, undefined)).to.equal('400 too_many_parameters')
    })
  })

  it('has limits that are checked at the start', async () => {
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ maxFields: -1 }, /multipart\.maxFields is a whole number/],
      [{ maxFiles: 1.5 }, /multipart\.maxFiles is a whole number/],
      [{ maxFileSize: 'big' }, /multipart\.maxFileSize/],
      [{ maxHeaderSize: null }, /multipart\.maxHeaderSize is a size/],
      [{ maxParts: 1 }, /multipart\.maxParts is unknown/],
    ]
    for (const [limits, message] of wrong) {
      expect(() => createApp({ logger: false, multipart: limits })).to.throw(StartupError, message)
      const app = createApp({ logger: false }).use(
        createRouter().post('/x', { consumes, multipart: limits }, () => ''),
      )
      expect(await failureOf(app.ready())).to.match(message)
    }
    const contrary = { consumes: ['application/json'], body: object({ f: file() }) }
    const app = createApp({ logger: false }).use(createRouter().post('/x', contrary, () => ''))
    const fault = await app.ready().catch((error: unknown) => error)
    expect(fault).to.include({ code: 'MORTAR_MULTIPART' }).and.have.deep.property('files', ['router /'])
    expect(String(fault)).to.match(/file\(\) in its body/)
  })
})

async function failureOf(ready: Promise<unknown>): Promise<string> {
  return ready.then(
    () => 'no failure',
    (error: unknown) => String(error),
  )
}
