/** Returns a statement without its leading comments and spaces. */
export function withoutComments(sql: string): string {
  return sql.replace(/^(?:\s+|--[^\n]*(?:\n|$)|\/\*[^]*?\*\/)+/, '')
}

/** True for a statement that changes tables and not their rows. */
export function isDdl(sql: string): boolean {
  return /^(ALTER|CREATE|DROP|RENAME|TRUNCATE|COMMENT|REINDEX)\b/i.test(withoutComments(sql))
}

/** Shortens a statement for a message. Rows may contain what no message may show, so only the table of a change remains. */
export function shorten(sql: string): string {
  const text = withoutComments(sql).replaceAll(/\s+/g, ' ')
  if (!isDdl(text)) return /^\w+(?: (?:INTO|FROM))? \S+/i.exec(text)?.[0] ?? ''
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
