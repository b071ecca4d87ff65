// Writes the declarations of one entry point as a Markdown page: groups, and in each group the values before the types.
import { firstSentence } from './declarations.mjs'
import { anchorOf } from '../links.mjs'
import { GROUPS, GUIDES } from './groups.mjs'

const LONGEST_CONSTANT = 1000
const NOTE = '<!-- Written by `npm run docs -- --reference`. -->'

/** `@mortar/auth/basic` has the page auth-basic.md, and `mortar` the page mortar.md. */
function pageOf(entry) {
  return `${entry.replace(/^@?mortar\//, '').replaceAll('/', '-')}.md`
}

/**
 * The pages by file name: one for each entry point, and their index.
 *
 * @param {Array<{ entry: string, exports: import('./declarations.mjs').Export[] }>} entries An export of several entry
 *   points is described on the page of the first.
 * @returns {Map<string, string>}
 */
export function renderPages(entries) {
  const drafts = entries.map(({ entry, exports }) => {
    const groups = groupsOf(entry, exports)
    return { entry, exports, groups, anchors: anchorsOf(entry, groups) }
  })
  const owners = new Map()
  for (const { entry, exports, anchors } of drafts)
    for (const each of exports)
      if (!owners.has(keyOf(each)))
        owners.set(keyOf(each), { entry, link: `${pageOf(entry)}#${anchors.get(each.name)}` })
  return new Map([
    ['README.md', renderIndex(entries)],
    ...drafts.map((draft) => [pageOf(draft.entry), renderEntry(draft, owners)]),
  ])
}

function renderEntry({ entry, exports, groups, anchors }, owners) {
  const section = (each) => renderExport(each, { entry, owner: owners.get(keyOf(each)), anchors })
  const parts = groups.map(({ title, page, section: anchor, members }) => {
    const guide = `Explained in [${page.replace('.md', '')}](../${page}${anchor ? `#${anchor}` : ''}).`
    return [...(title ? [`## ${title}`] : []), guide, ...members.map(section)].join('\n\n')
  })
  const contents = groups.length > 1 ? [contentsOf(groups, anchors)] : []
  return [`# ${entry}`, NOTE, ...contents, ...parts, ...renderForeign(exports, owners), ''].join('\n\n')
}

/** The index of all pages. */
function renderIndex(entries) {
  const items = entries.map(({ entry, exports }) => {
    const values = exports.filter(({ kind }) => kind === 'value').map(({ name }) => `\`${name}\``)
    const types = exports.length - values.length
    return `- [${entry}](${pageOf(entry)}): ${values.join(', ')}${types > 0 ? `; ${countOf(types)}` : ''}`
  })
  return `# Reference

${NOTE}

Every export of the package with its signature, one page for each entry point. Options and behaviour are explained in the
pages to which each group links.

${items.join('\n')}
`
}

/** An identity of a declaration across entry points. */
function keyOf({ file, name }) {
  return `${file}#${name}`
}

function groupsOf(entry, exports) {
  if (entry !== 'mortar') return [{ page: GUIDES[entry], members: valuesFirst(exports) }]
  const groupOf = ({ file }) => GROUPS.find(({ files }) => files.test(file))
  const lost = exports.find((each) => !groupOf(each))
  if (lost) throw new Error(`${lost.file} belongs to no group in scripts/site/reference/groups.mjs.`)
  return GROUPS.map((group) => ({
    ...group,
    members: valuesFirst(exports.filter((each) => groupOf(each) === group)),
  })).filter(({ members }) => members.length > 0)
}

function valuesFirst(exports) {
  const isValue = ({ kind }) => kind === 'value'
  return [...exports.filter(isValue), ...exports.filter((each) => !isValue(each))]
}

/** The anchors of the exports: headings that differ only in case get a number, as on GitHub. */
function anchorsOf(entry, groups) {
  const seen = new Map()
  const anchors = new Map()
  const add = (heading, name) => {
    const anchor = anchorOf(heading)
    const before = seen.get(anchor) ?? 0
    seen.set(anchor, before + 1)
    anchors.set(name, before === 0 ? anchor : `${anchor}-${before}`)
  }
  add(entry, '')
  for (const { title, members } of groups) {
    if (title) add(title, `## ${title}`)
    for (const { name } of members) add(name, name)
  }
  return anchors
}

/** The groups with their functions, classes and constants. */
function contentsOf(groups, anchors) {
  const link = (text, name) => `[${text}](#${anchors.get(name)})`
  return groups
    .map(({ title, members }) => {
      const values = members
        .filter(({ kind }) => kind === 'value')
        .map(({ name }) => link(`\`${name}\``, name))
      const types = members.length - values.length
      const parts = types === 0 ? values : [...values, countOf(types)]
      return `- ${link(`**${title}**`, `## ${title}`)}: ${parts.join(', ')}`
    })
    .join('\n')
}

function renderExport(declared, { entry, owner, anchors }) {
  const heading = `### ${declared.name}`
  if (owner.entry !== entry) return `${heading}\n\nThe same as in [${owner.entry}](${owner.link}).`
  const uses = declared.uses.filter(({ name }) => anchors.has(name))
  const links = uses.map(({ name }) => `[${name}](#${anchors.get(name)})`)
  const related = declared.kind === 'value' && links.length > 0 ? [`Types: ${links.join(', ')}`] : []
  return [heading, proseOf(declared), fence(declared), ...related].filter(Boolean).join('\n\n')
}

/** Types that signatures name: links to those of other entry points, and the text of those that none exports. */
function renderForeign(exports, owners) {
  const own = new Set(exports.map(keyOf))
  const used = new Map(exports.flatMap(({ uses }) => uses).map((type) => [keyOf(type), type]))
  const foreign = [...used].filter(([key, { kind }]) => kind === 'type' && !own.has(key))
  const sorted = foreign.toSorted(([, one], [, other]) => (one.name < other.name ? -1 : 1))
  const links = sorted.flatMap(([key, { name }]) =>
    owners.has(key) ? [`[${name}](${owners.get(key).link})`] : [],
  )
  const hidden = sorted.flatMap(([key, type]) => (owners.has(key) ? [] : [type]))
  const code = hidden.map(({ doc, code: text }) => `${doc ? `/** ${firstSentence(doc)} */\n` : ''}${text}`)
  return [
    ...(links.length + code.length > 0 ? ['## Other types of these signatures'] : []),
    ...(links.length > 0 ? [`Exported elsewhere: ${links.join(', ')}`] : []),
    ...(code.length > 0 ? ['Not exported:', `\`\`\`ts\n${code.join('\n\n')}\n\`\`\``] : []),
  ]
}

function countOf(types) {
  return types === 1 ? '1 type' : `${types} types`
}

function fence({ name, code }) {
  const long = code.startsWith('const ') && code.length > LONGEST_CONSTANT
  return `\`\`\`ts\n${long ? `const ${name}: { … }` : code}\n\`\`\``
}

/** The docstring, with `@throws` and `@returns` as sentences. */
function proseOf({ name, file, doc }) {
  if (doc === '') throw new Error(`${file}: ${name} has no docstring.`)
  const [text, ...tags] = doc.split(/^@/m)
  const known = tags.flatMap((tag) => {
    const [, kind, rest] = /^(\w+)\s+([^]*)$/.exec(tag.trim()) ?? []
    if (kind === 'throws') return [`Throws ${rest}`]
    return kind === 'returns' ? [`Returns ${rest}`] : []
  })
  return [text, ...known]
    .map((part) => part.trim())
    .filter(Boolean)
    .join('\n\n')
}
