import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BUILD } from './work/mortar-entry.js'

const ROOT = join(import.meta.dirname, '..')

/**
 * Compiles the reference application into `data/reference` of the checkout or of another build, whose packages it imports.
 * @returns the folder of its modules.
 * @throws Error when it does not compile.
 */
export function buildReference(): string {
  const target = join(BUILD, 'data/reference')
  mkdirSync(target, { recursive: true })
  const project = join(target, 'tsconfig.json')
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        outDir: target,
        customConditions: [],
        types: ['node'],
        rootDir: ROOT,
      },
      include: [join(ROOT, 'examples/notes')],
      exclude: [join(ROOT, 'examples/notes/test'), join(ROOT, 'examples/notes/dist')],
    }),
  )
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`The reference application does not compile:\n${stdout}`)
  return join(target, 'examples/notes')
}
