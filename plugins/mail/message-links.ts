/** A web address inside text: a scheme, then no white space, quote, angle bracket or control character. */
// oxlint-disable-next-line no-control-regex -- control characters end a link
const WEB_ADDRESS = /\bhttps?:\/\/[^\s<>"'`\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/gi
const HREF = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))/gi
const TRAILING = '.,;:!?)]}'
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const MAX_LINKS = 50

/** A piece of text: plain, or a web address. */
export interface TextPiece {
  readonly text: string
  readonly isLink: boolean
}

/** Splits text into plain pieces and `http`/`https` addresses. Punctuation after an address is plain. */
export function splitLinks(text: string): TextPiece[] {
  const pieces: TextPiece[] = []
  let end = 0
  for (const match of text.matchAll(WEB_ADDRESS)) {
    const link = trimLink(match[0])
    if (!isWebAddress(link)) continue
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), isLink: false })
    pieces.push({ text: link, isLink: true })
    end = match.index + link.length
  }
  if (end < text.length) pieces.push({ text: text.slice(end), isLink: false })
  return pieces
}

/** Returns the distinct web addresses of a message, text part first. Other schemes are left out. */
export function linksOf(message: { readonly text: string | null; readonly html: string | null }): string[] {
  const inText = splitLinks(message.text ?? '')
    .filter((piece) => piece.isLink)
    .map((piece) => piece.text)
  const inHtml = [...(message.html ?? '').matchAll(HREF)]
    .map((match) => decodeEntities(match[1] ?? match[2] ?? match[3] ?? '').trim())
    .filter(isWebAddress)
  return [...new Set([...inText, ...inHtml])].slice(0, MAX_LINKS)
}

/** True for an absolute `http` or `https` URL without a user part, which could disguise the host. */
export function isWebAddress(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false
  const url = new URL(text)
  return url.username === '' && url.password === ''
}

function trimLink(link: string): string {
  // A closing bracket belongs to the address when its opening one does: https://en.wikipedia.org/wiki/Koa_(tree)
  let end = link.length
  while (TRAILING.includes(link[end - 1]!)) end -= 1
  return link.slice(0, link[end] === ')' && link.lastIndexOf('(', end) >= 0 ? end + 1 : end)
}

function decodeEntities(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? whole
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
