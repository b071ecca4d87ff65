import fs, { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import {
  createApp,
  createRouter,
  file,
  sendFile,
  type AppOptions,
  type RouteDefinition,
  type StartupError,
  type UploadedFile,
} from 'mortar'
import { array, object, string } from 'yup'
import { throughBothAdapters } from '../support/adapters.ts'
import { deferred } from '../support/deferred.ts'

const form = (name: string, content: string): FormData => {
  const data = new FormData()
  data.set(name, new File([content], 'a.txt', { type: 'text/plain' }))
  return data
}

/** The error that stops the start; undefined for none. */
async function startFault(
  options: AppOptions,
  definition: RouteDefinition,
): Promise<StartupError | undefined> {
  const app = createApp({ logger: false, ...options }).use(
    createRouter().post('/upload', definition, () => 'ok'),
  )
  const error = await app.ready().then(
    () => undefined,
    (thrown: unknown) => thrown as StartupError,
  )
  await app.close()
  return error
}

const startError = async (options: AppOptions, definition: RouteDefinition): Promise<string | undefined> =>
  (await startFault(options, definition))?.message

describe('The upload folder', () => {
  const body = object({ a: file().required() })
  let folder: string
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'uploads-'))))
  after(() => rm(folder, { recursive: true }))

  throughBothAdapters((open) => {
    it('contains the files of requests, and is empty after them', async () => {
      const places: string[] = []
      const app = createApp({ logger: false, multipart: { folder } }).use(
        createRouter()
          .post('/own', { body }, ({ body: { a } }) => void places.push(dirname(a.filepath)))
          .post(
            '/other',
            { body, multipart: { folder: tmpdir() } },
            ({ body: { a } }) => void places.push(dirname(a.filepath)),
          )
          .post('/back', { body }, (ctx) => {
            ctx.status = 201
            return sendFile(ctx, ctx.body.a.filepath, { type: ctx.body.a.mimetype! })
          }),
      )
      const { fetch } = await open(app)
      for (const path of ['/own', '/other']) await fetch(path, { method: 'POST', body: form('a', 'text') })
      expect(places).to.deep.equal([folder, tmpdir()])
      const back = await fetch('/back', { method: 'POST', body: form('a', 'text') })
      expect([back.status, await back.text()]).to.deep.equal([201, 'text'])
      await app.close()
      expect(await readdir(folder)).to.deep.equal([])
    })

    it('is emptied without a failure after a handler has moved a file away', async () => {
      const kept = await mkdtemp(join(tmpdir(), 'kept-'))
      const ended = deferred()
      const app = createApp({ logger: false, multipart: { folder } }).use(
        createRouter().post('/', { consumes: ['multipart/form-data'] }, async (ctx) => {
          const { a } = ctx.body as { a: UploadedFile }
          ctx.koa.res.once('close', () => ended.resolve())
          await rename(a.filepath, join(kept, 'a.txt'))
        }),
      )
      const { fetch } = await open(app)
      const failures: unknown[] = []
      const note = (error: unknown): void => void failures.push(error)
      process.on('unhandledRejection', note)
      const both = form('a', 'text')
      both.set('b', new File(['more'], 'b.txt'))
      await fetch('/', { method: 'POST', body: both })
      await ended.promise
      while ((await readdir(folder)).length > 0) await wait(5)
      process.off('unhandledRejection', note)
      expect([failures, await readdir(kept)]).to.deep.equal([[], ['a.txt']])
      await rm(kept, { recursive: true })
    })

    it('is not told to the client, by an issue or by the value itself', async () => {
      const title = object({ a: string() })
      const app = createApp({ logger: false, multipart: { folder }, environment: 'production' }).use(
        createRouter()
          .post('/title', { body: title, consumes: ['multipart/form-data'] }, () => 'ok')
          .post('/back', { body }, (ctx) => ctx.body),
      )
      const { fetch } = await open(app)
      const issue = await fetch('/title', { method: 'POST', body: form('a', 'text') })
      const text = await issue.text()
      expect([issue.status, text.includes('a.txt'), text.includes(folder)]).to.deep.equal([422, true, false])
      const back = await fetch('/back', { method: 'POST', body: form('a', 'text') })
      const a = { originalFilename: 'a.txt', mimetype: 'text/plain', size: 4 }
      expect(await back.json()).to.deep.equal({ a })
      await app.close()
    })

    it('is empty after a connection that ends before the response in front of the form', async () => {
      const uploaded = deferred()
      const app = createApp({ logger: false, multipart: { folder } }).use(
        createRouter()
          .get('/waits', ({ signal }) => once(signal, 'abort'))
          .post('/own', { body }, () => uploaded.resolve()),
      )
      const { url } = await open(app)
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      const part = '--b\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\ntext\r\n--b--'
      socket.write(
        'GET /waits HTTP/1.1\r\nHost: x\r\n\r\nPOST /own HTTP/1.1\r\nHost: x\r\n' +
          `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${part.length}\r\n\r\n${part}`,
      )
      await uploaded.promise
      expect(await readdir(folder)).to.have.length(1)
      socket.destroy()
      while ((await readdir(folder)).length > 0) await wait(5)
    })
  })

  it('stops the start if it is not writable, and only with a route that reads forms', async () => {
    const missing = join(folder, 'missing')
    const multipart = { folder: missing }
    expect(await startError({ multipart }, { body })).to.match(
      /no file can be written in .*missing: ENOENT[^]*TMPDIR[^]*multipart\.folder[^]*\[MORTAR_UPLOAD_FOLDER\]/,
    )
    expect(await startError({}, { body, multipart })).to.contain('[MORTAR_UPLOAD_FOLDER]')
    expect(await startError({}, { body, multipart: { folder: '' } })).to.contain(
      'multipart.folder is the path',
    )
    expect(await startError({ multipart }, {})).to.equal(undefined)
    expect(await startError({}, { body })).to.equal(undefined)
    expect(await readdir(folder)).to.deep.equal([])
    const fault = await startFault({ multipart }, { body })
    expect(fault?.found).to.equal(
      `A route reads multipart forms, but no file can be written in ${missing}: ENOENT.`,
    )
    expect(fault?.cause).to.include({ code: 'ENOENT', syscall: 'open' })
    const { TMPDIR } = process.env
    process.env['TMPDIR'] = missing
    try {
      expect(await startError({}, { body })).to.contain(`${missing}: ENOENT.`)
      expect(await startError({ multipart: { folder } }, { body })).to.equal(undefined)
    } finally {
      if (TMPDIR === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = TMPDIR
    }
  })

  it('is checked once at the start, however many routes and applications read forms', async () => {
    const { writeFile } = fs
    const written: string[] = []
    fs.writeFile = (path, ...given) => {
      written.push(dirname(String(path)))
      return writeFile(path, ...given)
    }
    syncBuiltinESMExports()
    try {
      const router = createRouter().post('/own', { body, multipart: { folder: tmpdir() } }, () => 'ok')
      for (const path of ['/a', '/b', '/c']) router.post(path, { body }, () => 'ok')
      const apps = ['', ''].map(() => createApp({ logger: false, multipart: { folder } }).use(router))
      await Promise.all(apps.map((app) => app.ready()))
      for (const app of apps) await app.close()
    } finally {
      fs.writeFile = writeFile
      syncBuiltinESMExports()
    }
    expect(written.toSorted()).to.deep.equal([folder, folder, tmpdir(), tmpdir()].toSorted())
    expect(await readdir(folder)).to.deep.equal([])
  })
})

describe('A file size above bodyLimit', () => {
  const of = (maxSize: string) => object({ picture: file({ maxSize }).required() })
  const cases: readonly (readonly [string, AppOptions, RouteDefinition, RegExp | undefined])[] = [
    [
      'of a schema',
      {},
      { body: of('2mb') },
      /POST \/upload \(router \/\) accepts 2097152 bytes by maxSize of its file 'picture', but .* 1048576 bytes/,
    ],
    ['of a list', {}, { body: object({ all: array(file({ maxSize: '2mb' })) }) }, /its file 'all'/],
    ['of the route', {}, { body: of('1kb'), multipart: { maxFileSize: '2mb' } }, /by multipart\.maxFileSize/],
    ['below the limit of the route', {}, { body: of('2mb'), bodyLimit: '3mb' }, undefined],
    ['below the limit of the application', { bodyLimit: '3mb' }, { body: of('2mb') }, undefined],
    ['below the default', {}, { body: of('1mb') }, undefined],
    ['of a second file', {}, { body: of('1kb').shape({ b: file({ maxSize: '2mb' }) }) }, /its file 'b'/],
    ['of the application alone', { multipart: { maxFileSize: '2mb' } }, { body: of('1kb') }, undefined],
  ]
  for (const [what, options, definition, expected] of cases)
    it(`${expected === undefined ? 'starts' : 'stops the start'}: ${what}`, async () => {
      const fault = await startFault(options, definition)
      if (expected === undefined) return expect(fault).to.equal(undefined)
      expect(fault?.message).to.match(expected).and.contain('[MORTAR_FILE_SIZE]')
      expect(fault?.files).to.deep.equal(['router /'])
    })
})
