import { once } from 'node:events'
import fs from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { BadRequest } from 'mortar'
import { TemporaryFiles } from '../../src/pipeline/multipart/temporary-files.ts'
import { deferred } from '../support/deferred.ts'

describe('The temporary files of a request', () => {
  let folder: string
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'temporary-'))))
  afterEach(() => rm(folder, { recursive: true }))

  it('are removed, also those that are still being opened', async () => {
    const files = new TemporaryFiles(folder)
    await once(files.create().end('x'), 'close')
    files.create()
    expect((await readdir(folder)).length).to.be.within(1, 2)
    await files.remove()
    expect(await readdir(folder)).to.deep.equal([])
  })

  it('are removed after a slow disk has opened them, also those that were destroyed before', async () => {
    const { createWriteStream, open, write, close } = fs
    const released = deferred()
    const openLater = (...given: unknown[]): void =>
      void released.promise.then(() => Reflect.apply(open, fs, given))
    fs.createWriteStream = (path, options) =>
      createWriteStream(path, {
        ...(options as object),
        fs: { open: openLater as typeof open, write, close },
      })
    syncBuiltinESMExports()
    const files = new TemporaryFiles(folder)
    const streams = [files.create(), files.create().destroy()]
    fs.createWriteStream = createWriteStream
    syncBuiltinESMExports()
    const closed = streams.map((stream) => once(stream, 'close'))
    const removal = files.remove()
    for (let turn = 0; turn < 3; turn++) expect(await readdir(folder)).to.deep.equal([])
    released.resolve()
    await Promise.all([removal, ...closed])
    expect(await readdir(folder)).to.deep.equal([])
  })

  it('can be read and written by the user of the process only', async function () {
    if (process.platform === 'win32') return this.skip()
    const files = new TemporaryFiles(folder)
    const stream = files.create()
    await once(stream, 'open')
    const { mode } = await stat(stream.path)
    await files.remove()
    expect(mode & 0o777).to.equal(0o600)
  })

  it('are not created after the removal has begun', async () => {
    const files = new TemporaryFiles(folder)
    const removal = files.remove()
    expect(() => files.create()).to.throw(BadRequest, 'The client disconnected.')
    await removal
    expect(await readdir(folder)).to.deep.equal([])
  })
})
