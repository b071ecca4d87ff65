const WELL_FORMED = /^[\w.:-]{1,128}$/
let prefix: string | undefined
let count = 0

/**
 * Returns the client's id if it is short and safe in a log line, else an id that is unique to this process and request.
 */
export function requestId(presented: string | string[] | undefined): string {
  if (typeof presented === 'string' && WELL_FORMED.test(presented)) return presented
  count += 1
  return `${(prefix ??= randomPrefix())}-${count.toString(36)}`
}

/** Creates the prefix on first use, so that an application without ids starts without `node:crypto`. */
function randomPrefix(): string {
  return process.getBuiltinModule('node:crypto').randomBytes(6).toString('base64url')
}
