// docs/reference: one page for each entry point of the packages, and an index.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { readEntries } from './declarations.mjs'
import { renderPages } from './render.mjs'

const ROOT = join(import.meta.dirname, '../../..')
const FOLDER = 'docs/reference'

/** Writes the pages and removes those of entry points that no longer exist. Returns the paths of the changed pages. */
export async function writeReference() {
  const pages = await formattedPages()
  const changed = await staleReference(pages)
  mkdirSync(join(ROOT, FOLDER), { recursive: true })
  for (const path of changed)
    if (pages.has(path)) writeFileSync(join(ROOT, path), pages.get(path))
    else rmSync(join(ROOT, path))
  return changed
}

/** The paths of pages that differ from the exports. */
export async function staleReference(rendered) {
  const pages = rendered ?? (await formattedPages())
  const folder = join(ROOT, FOLDER)
  const present = existsSync(folder) ? readdirSync(folder).map((name) => `${FOLDER}/${name}`) : []
  const isCurrent = (path) =>
    present.includes(path) && readFileSync(join(ROOT, path), 'utf8') === pages.get(path)
  return [...new Set([...pages.keys(), ...present])].filter((path) => !isCurrent(path))
}

async function formattedPages() {
  const formatted = [...renderPages(readEntries())].map(async ([name, text]) => {
    const path = `${FOLDER}/${name}`
    const settings = await resolveConfig(join(ROOT, path))
    return [path, await format(text, { ...settings, filepath: path })]
  })
  return new Map(await Promise.all(formatted))
}
