import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Folder of the compiled package; `MORTAR_DIST` names that of another build. */
export const DIST = resolve(process.env['MORTAR_DIST'] ?? `${import.meta.dirname}/../../dist`)

const root = pathToFileURL(`${resolve(DIST, '..')}/`)
const { exports: entries } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))

/** Imports an entry point of the package, such as `./auth`; `.` is the package itself. */
export function importMortar(entry) {
  return import(new URL(entries[entry].default, root).href)
}
