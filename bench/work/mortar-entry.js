import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * The folder whose packages are measured: this checkout. `MORTAR_DIST` names another one, a built checkout or what
 * `node scripts/build.mjs FOLDER` wrote.
 */
export const BUILD = resolve(process.env['MORTAR_DIST'] ?? `${import.meta.dirname}/../..`)

const find = createRequire(join(BUILD, 'bench.js')).resolve

/** The file of an entry, such as `@mortar/auth`. A checkout from before bricks were packages has it as `mortar/auth`. */
export function fileOf(entry) {
  try {
    return find(entry)
  } catch {
    return find(entry.replace(/^@/, ''))
  }
}

/** The folder of the core's package. */
export const PACKAGE = dirname(fileOf('mortar/package.json'))

/** The program `mortar`. */
export const COMMAND_LINE = join(
  PACKAGE,
  JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')).bin.mortar,
)

/** Imports an entry, such as `mortar` or `@mortar/auth`. */
export function importMortar(entry) {
  return import(pathToFileURL(fileOf(entry)).href)
}
