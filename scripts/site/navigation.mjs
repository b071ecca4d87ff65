// The navigation of the site, read from the index docs/README.md: each of its headings is a group, each of its links a
// page. Pages of a folder that the index does not list follow in the group of that folder.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join, posix } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const INDEX = 'docs/README.md'

/** Folders of docs with many pages, and the group of the index to which they belong. */
const FOLDERS = [
  { folder: 'docs/guides', group: 'Guides', after: 'Start' },
  { folder: 'docs/reference', group: 'Reference' },
  { folder: 'docs/adr', group: 'Background' },
]

/**
 * The groups of the navigation.
 *
 * @returns {Array<{ title: string, pages: Array<{ title: string, path: string }> }>} Paths from the root of the
 *   repository.
 */
export function navigation() {
  const groups = groupsOf(readFileSync(join(ROOT, INDEX), 'utf8'))
  for (const { folder, group, after } of FOLDERS) {
    const listed = groups.flatMap(({ pages }) => pages.map(({ path }) => path))
    const others = pagesOf(folder).filter((path) => !listed.includes(path))
    if (others.length === 0) continue
    const pages = others.map((path) => ({ title: titleOf(path), path }))
    const known = groups.find(({ title }) => title === group)
    if (known) known.pages.push(...pages)
    else groups.splice(groups.findIndex(({ title }) => title === after) + 1, 0, { title: group, pages })
  }
  return groups
}

/** Every page of the site: those of docs without the rules for contributors, the READMEs and the changelog. */
export function sitePages() {
  const bricks = readdirSync(join(ROOT, 'plugins')).map((brick) => `plugins/${brick}/README.md`)
  const docs = ['docs', 'docs/guides', 'docs/reference', 'docs/adr'].flatMap(pagesOf)
  return [...docs, ...bricks, 'CHANGELOG.md'].filter((path) => existsSync(join(ROOT, path)))
}

function groupsOf(markdown) {
  const [, ...sections] = markdown.split(/^## /m)
  return sections.map((section) => ({
    title: section.slice(0, section.indexOf('\n')),
    pages: [...section.matchAll(/^- \[(.+?)\]\(([^)#]+)\)(?:.*? its \[(.+?)\]\(([^)#]+)\))?/gm)].flatMap(
      ([, title, link, part, partLink]) => [
        { title: plain(title), path: posix.join('docs', link) },
        ...(part ? [{ title: `${plain(title)}: ${part}`, path: posix.join('docs', partLink) }] : []),
      ],
    ),
  }))
}

function pagesOf(folder) {
  if (!existsSync(join(ROOT, folder))) return []
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.md'))
  return names.toSorted().map((name) => `${folder}/${name}`)
}

function titleOf(path) {
  const heading = /^# (.+)$/m.exec(readFileSync(join(ROOT, path), 'utf8'))?.[1] ?? posix.basename(path, '.md')
  return plain(heading)
}

function plain(title) {
  return title.replaceAll('`', '')
}
