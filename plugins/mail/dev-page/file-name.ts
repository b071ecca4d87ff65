const MAX_LENGTH = 120
/** Separators, characters that a file system refuses, control characters, and marks that reverse the text direction. */
// oxlint-disable-next-line no-control-regex -- it finds control characters
const UNSAFE = /[/\\:*?"<>|\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/** Returns a safe name for a download: no path, no control or direction marks, no leading dot. */
export function safeFileName(name: string, fallback: string): string {
  const clean = name
    .replace(UNSAFE, '_')
    .replace(/^[.\s]+/, '')
    .trim()
  const dot = clean.lastIndexOf('.')
  const extension = dot > 0 && clean.length - dot <= 12 ? clean.slice(dot) : ''
  const short =
    clean.length <= MAX_LENGTH ? clean : `${clean.slice(0, MAX_LENGTH - extension.length)}${extension}`
  // Last, since the cut may have split a surrogate pair, and half a pair cannot be percent-encoded.
  return short.replace(/\p{Surrogate}/gu, '_') || fallback
}

/** `Content-Disposition` of a download, with the name in both forms (RFC 6266 §4.3, RFC 8187 §3.2). */
export function attachmentDisposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|[%"\\]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
