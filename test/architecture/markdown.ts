/** The cells of every table row of a Markdown text, without the header's dashes; inline code keeps its backticks. */
export function tableRows(markdown: string): string[][] {
  const rows = markdown.split('\n').filter((line) => line.startsWith('|') && !/^\|[\s:|-]+\|$/.test(line))
  return rows.map((row) => cellsOf(row))
}

/** The contents of all inline code: `` `bodyLimit: '1mb'` `` gives `bodyLimit: '1mb'`. Fenced blocks do not count. */
export function inlineCode(markdown: string): string[] {
  return [...withoutFences(markdown).matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!)
}

/** The text from a heading to the next heading of the same or a higher level; an empty string without the heading. */
export function sectionOf(markdown: string, heading: string): string {
  const lines = withoutFences(markdown).split('\n')
  const start = lines.findIndex((line) => /^#{1,6} /.test(line) && line.replace(/^#+ /, '') === heading)
  if (start < 0) return ''
  const level = lines[start]!.indexOf(' ')
  const length = lines.slice(start + 1).findIndex((line) => new RegExp(`^#{1,${level}} `).test(line))
  return lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n')
}

/** The targets of links and images, without those that lead to other sites. */
export function relativeLinks(markdown: string): string[] {
  const links = [...withoutFences(markdown).matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)]
  return links.map((match) => match[1]!).filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
}

/** The anchors of a document's headings, as GitHub makes them. */
export function anchorsOf(markdown: string): string[] {
  const headings = [...withoutFences(markdown).matchAll(/^#{1,6}\s+(.+?)\s*$/gm)]
  const seen = new Map<string, number>()
  return headings.map((match) => {
    const anchor = anchorOf(match[1]!)
    const before = seen.get(anchor) ?? 0
    seen.set(anchor, before + 1)
    return before === 0 ? anchor : `${anchor}-${before}`
  })
}

function anchorOf(heading: string): string {
  const kept = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
  return kept.replaceAll(' ', '-')
}

function cellsOf(row: string): string[] {
  const cells = row.split(/(?<!\\)\|/).slice(1, -1)
  return cells.map((cell) => cell.trim())
}

function withoutFences(markdown: string): string {
  return markdown.replaceAll(/^(`{3,}|~{3,})[^]*?^\1\s*$/gm, '')
}
