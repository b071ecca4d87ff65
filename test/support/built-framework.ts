import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { ROOT } from '../architecture/tree.ts'

/** Whatever `scripts/build.mjs` reads. */
const FOLDERS = ['src', 'plugins', 'scripts', 'examples/notes', 'config']
const FILES = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']

/** Below `node_modules`, so that the packages find one another first, and then all others. */
const CACHE = join(ROOT, 'node_modules/.cache')

const KEPT = 4

let built: string | undefined

/**
 * The folder with the packages `mortar` and `@mortar/…`, built from the sources of this moment. The first process that
 * needs a build makes it, the others wait for it, and it stays until the sources change.
 */
export function builtFramework(): string {
  return (built ??= join(findBuild(), 'node_modules'))
}

function findBuild(): string {
  const folder = join(CACHE, `built-${hashOfSources()}`)
  const lock = `${folder}.lock`
  mkdirSync(CACHE, { recursive: true })
  while (!existsSync(folder)) {
    if (!acquire(lock)) continue
    try {
      if (!existsSync(folder)) build(folder)
    } finally {
      rmSync(lock)
    }
  }
  return folder
}

function hashOfSources(): string {
  const hash = createHash('sha256')
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\/(dist|data|node_modules)(\/|$)/.test(entry.parentPath))
      .map(({ name, parentPath }) => relative(ROOT, join(parentPath, name))),
  )
  for (const file of [...inFolders.toSorted(), ...FILES]) {
    const content = readFileSync(join(ROOT, file))
    hash.update(`${file}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex').slice(0, 16)
}

/** True if this process has the lock now; else it has waited for a moment, or removed the lock of a killed process. */
function acquire(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch {
    if (!isRunning(lock)) rmSync(lock, { force: true })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
    return false
  }
}

function isRunning(lock: string): boolean {
  try {
    return process.kill(Number(readFileSync(lock, 'utf8')), 0)
  } catch {
    return false
  }
}

function build(folder: string): void {
  const partial = `${folder}.partial`
  const script = join(ROOT, 'scripts/build.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, partial], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`The framework cannot be built:\n${stdout}${stderr}`)
  renameSync(partial, folder)
  removeOldBuilds()
}

/** Another run may have begun before the sources changed, so the last builds stay. */
function removeOldBuilds(): void {
  const names = readdirSync(CACHE).filter((name) => /^built-\w+$/.test(name))
  const byAge = names.map((name) => join(CACHE, name)).toSorted((a, b) => ageOf(a) - ageOf(b))
  for (const folder of byAge.slice(KEPT)) rmSync(folder, { recursive: true })
}

const ageOf = (folder: string): number => Date.now() - statSync(folder).mtimeMs
