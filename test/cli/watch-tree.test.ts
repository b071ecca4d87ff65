import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { watchTree } from '../../src/cli/dev/watch-tree.ts'

describe('watchTree', () => {
  it('follows a folder that takes the name of a renamed one in the same moment', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'mortar-watch-')))
    const seen = new Set<string>()
    const write = (path: string, text: string): void => writeFileSync(join(root, path), text)
    const until = async (path: string): Promise<void> => {
      for (let turn = 0; turn < 500 && !seen.has(join(root, path)); turn++) await pause(20)
      expect([...seen]).to.include(join(root, path))
      seen.clear()
    }
    mkdirSync(join(root, 'a'))
    write('a/one.ts', '1')
    const end = watchTree(root, { folder: () => true, file: () => true }, (paths) => {
      for (const path of paths) seen.add(path)
    })
    try {
      renameSync(join(root, 'a'), join(root, 'b'))
      mkdirSync(join(root, 'a'))
      write('a/two.ts', '2')
      await until('a/two.ts')
      write('a/two.ts', 'changed')
      await until('a/two.ts')
      write('b/one.ts', 'changed')
      await until('b/one.ts')
    } finally {
      end()
      rmSync(root, { recursive: true })
    }
  })
})
