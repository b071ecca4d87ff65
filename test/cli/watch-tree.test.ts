import fs, {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { watchTree } from '../../src/cli/dev/watch-tree.ts'
import { asNobody } from '../support/as-nobody.ts'

const ALL = { folder: () => true, file: () => true }
/** For folders that the system lets it watch. */
const QUIET = { note: (text: string) => expect.fail(text) }

describe('watchTree', () => {
  it('follows a folder that takes the name of a renamed one in the same moment', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'mortar-watch-')))
    const seen = new Set<string>()
    const write = (path: string, text: string): void => writeFileSync(join(root, path), text)
    const until = async (path: string): Promise<void> => {
      for (let turn = 0; turn < 3000 && !seen.has(join(root, path)); turn++) await pause(20)
      expect([...seen]).to.include(join(root, path))
      seen.clear()
    }
    mkdirSync(join(root, 'a'))
    write('a/one.ts', '1')
    const add = (paths: readonly string[]) => {
      for (const path of paths) seen.add(path)
    }
    const end = watchTree(root, ALL, add, QUIET)
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

  it('follows its other folders after one that is removed in the moment in which it is found', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'mortar-watch-')))
    const seen: string[] = []
    const filter = {
      folder: (path: string, name: string) => {
        if (name === 'brief') rmSync(path, { recursive: true })
        return true
      },
      file: () => true,
    }
    const end = watchTree(root, filter, (paths) => void seen.push(...paths), QUIET)
    try {
      mkdirSync(join(root, 'brief'))
      mkdirSync(join(root, 'later'))
      writeFileSync(join(root, 'later/one.ts'), '1')
      for (let turn = 0; turn < 3000 && seen.length === 0; turn++) await pause(20)
      expect(seen).to.deep.equal([join(root, 'later/one.ts')])
    } finally {
      end()
      rmSync(root, { recursive: true })
    }
  })

  it('follows a folder that is made again under the number that the file system had given to the removed one', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'mortar-watch-')))
    const seen = new Set<string>()
    const add = (paths: readonly string[]) => {
      for (const path of paths) seen.add(path)
    }
    const end = watchTree(root, ALL, add, QUIET)
    try {
      for (let round = 0; round < 5; round++) {
        const file = join(root, 'a', `${round}.ts`)
        rmSync(join(root, 'a'), { recursive: true, force: true })
        mkdirSync(join(root, 'a'))
        await pause(50)
        writeFileSync(file, 'new')
        for (let turn = 0; turn < 3000 && !seen.has(file); turn++) await pause(20)
        expect([...seen]).to.include(file)
      }
    } finally {
      end()
      rmSync(root, { recursive: true })
    }
  })

  it('follows its other folders beside one that its user may not read, such as that of a database', async function () {
    if (process.platform === 'win32') this.skip()
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'mortar-watch-')))
    const seen: string[] = []
    for (const name of ['closed', 'open']) mkdirSync(join(root, name))
    chmodSync(root, 0o755)
    chmodSync(join(root, 'closed'), 0)
    symlinkSync('itself', join(root, 'itself'))
    let end: (() => void) | undefined
    try {
      end = await asNobody(() => watchTree(root, ALL, (paths) => void seen.push(...paths), QUIET))
      writeFileSync(join(root, 'open/one.ts'), '1')
      for (let turn = 0; turn < 3000 && seen.length === 0; turn++) await pause(20)
      expect(seen).to.deep.equal([join(root, 'open/one.ts')])
    } finally {
      end?.()
      rmSync(root, { recursive: true })
    }
  })

  for (const [code, remedy] of [
    ['ENOSPC', 'fs.inotify.max_user_watches'],
    ['EMFILE', 'fs.inotify.max_user_instances'],
  ] as const)
    it(`follows the folders that it can watch when the system refuses more with ${code}, and warns once`, async () => {
      const root = realpathSync(mkdtempSync(join(tmpdir(), 'mortar-watch-')))
      for (const name of ['a', 'b', 'c']) mkdirSync(join(root, name))
      const { watch } = fs
      const seen: string[] = []
      const notes: string[] = []
      fs.watch = ((folder: string, ...given: readonly unknown[]) => {
        if (folder !== root) throw Object.assign(new Error(`${code}: watch`), { code })
        return Reflect.apply(watch, fs, [folder, ...given]) as fs.FSWatcher
      }) as typeof watch
      syncBuiltinESMExports()
      let end: (() => void) | undefined
      try {
        end = watchTree(root, ALL, (paths) => void seen.push(...paths), {
          note: (text) => void notes.push(text),
        })
        writeFileSync(join(root, 'one.ts'), '1')
        for (let turn = 0; turn < 3000 && seen.length === 0; turn++) await pause(20)
        expect(seen).to.deep.equal([join(root, 'one.ts')])
        expect(notes).to.have.length(1)
        expect(notes[0]).to.contain(join(root, 'a')).and.to.contain(remedy)
      } finally {
        fs.watch = watch
        syncBuiltinESMExports()
        end?.()
        rmSync(root, { recursive: true })
      }
    })
})
