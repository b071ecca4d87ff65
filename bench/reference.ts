import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/**
 * Compiles the reference application into the `dist` folder of a build of Mortar, whose
 * package it then imports.
 * @returns the folder of its modules.
 * @throws Error when it does not compile.
 */
export function buildReference(dist = join(ROOT, 'dist')): string {
  const project = join(dist, 'tsconfig.reference.json')
  writeFileSync(
    project,
    JSON.stringify({
      extends: '../tsconfig.json',
      compilerOptions: {
        noEmit: false,
        outDir: 'reference',
        customConditions: [],
        types: ['node'],
        rootDir: '..',
      },
      include: ['../examples/notes'],
      exclude: ['../examples/notes/test'],
    }),
  )
  const tsc = join(dist, '../node_modules/typescript/bin/tsc')
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`The reference application does not compile:\n${stdout}`)
  return join(dist, 'reference/examples/notes')
}
