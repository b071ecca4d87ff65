import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { TemporaryFiles } from '../../src/pipeline/multipart/temporary-files.ts'

describe('The temporary files of a request', () => {
  let folder: string
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'temporary-'))))
  afterEach(() => rm(folder, { recursive: true }))

  it('are removed, also those that are still being opened', async () => {
    const files = new TemporaryFiles(folder)
    const written = files.create(join(folder, 'written'))
    await once(written.end('x'), 'close')
    files.create(join(folder, 'opening'))
    expect(existsSync(join(folder, 'written'))).to.equal(true)
    await files.remove()
    expect(await readdir(folder)).to.deep.equal([])
  })

  it('are not created after the removal has begun, but their bytes are accepted', async () => {
    const files = new TemporaryFiles(folder)
    const removal = files.remove()
    const late = files.create(join(folder, 'late'))
    await once(late.end('x'), 'close')
    await removal
    expect(await readdir(folder)).to.deep.equal([])
  })
})
