import { join } from 'node:path'
import { expect } from 'chai'
import { keepCompiledCode } from '../../src/cli/build/compile-cache.ts'

describe('The compiled code of a build', () => {
  it('is kept in its own folder, where Node can keep it', () => {
    const folders: string[] = []
    keepCompiledCode('/srv/app/dist', { enableCompileCache: (folder) => folders.push(folder) })
    expect(folders).to.deep.equal([join('/srv/app/dist', '.framework/compiled')])
  })

  it('is not kept by an older Node, which starts the same', () => {
    expect(() => keepCompiledCode('/srv/app/dist', {})).not.to.throw()
  })
})
