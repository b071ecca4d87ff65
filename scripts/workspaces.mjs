// The packages of this repository: the core, then the bricks.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..')

/** Every package with its folder and its package.json. */
export function packages() {
  const bricks = readdirSync(join(ROOT, 'plugins')).map((name) => `plugins/${name}`)
  return ['src', ...bricks].map((folder) => {
    const manifest = readJson(`${folder}/package.json`)
    return { name: manifest.name, folder, manifest }
  })
}

export function readJson(path) {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
}
