const WELL_FORMED = /^[\w.:-]{1,128}$/
let prefix: string | undefined
let count = 0

/** The caller's id when it is short and harmless in a log line, else one that is unique to this process and request. */
export function requestId(presented: string | string[] | undefined): string {
  if (typeof presented === 'string' && WELL_FORMED.test(presented)) return presented
  count += 1
  return `${(prefix ??= randomPrefix())}-${count.toString(36)}`
}

/** Many applications show no id before they have an error; those start without `node:crypto`. */
function randomPrefix(): string {
  return process.getBuiltinModule('node:crypto').randomBytes(6).toString('base64url')
}
