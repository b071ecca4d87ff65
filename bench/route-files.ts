import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { transformSync } from 'esbuild'
import { renderManifest } from '../src/files/write-manifest.ts'

const DATA = join(import.meta.dirname, '../data')

/** A generated project: its start command, and a path that it serves. */
export interface RouteFiles {
  readonly directory: string
  readonly path: string
}

/**
 * Writes so many compiled route files below `data`, and beside them the
 * manifest that `mortar build` would write, or none, so that they are scanned.
 */
export function writeRouteFiles(count: number, manifest: boolean): RouteFiles {
  const project = join(DATA, `${count}-route-files-${manifest ? 'manifest' : 'scan'}`)
  const files = Array.from(
    { length: count },
    (_, index) => `group${Math.floor(index / 10)}/item${index}.get.js`,
  )
  for (const file of files)
    write(join(project, 'routes', file), `export default () => ({ file: ${JSON.stringify(file)} })\n`)
  if (manifest) {
    const source = renderManifest('routes', files.toSorted())
    const compiled = transformSync(source, { loader: 'ts' }).code
    write(join(project, '.framework/routes.js'), compiled)
  }
  return { directory: join(project, 'routes'), path: '/group0/item0' }
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
