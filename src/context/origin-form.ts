/** Reduces a request target in absolute form (`GET http://host/path`, RFC 9112 §3.2.2) to path and query. */
export function originForm(target: string): string {
  if (target.charCodeAt(0) === 47) return target
  const match = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*(.*)$/i.exec(target)
  if (!match) return target
  return match[1]!.startsWith('/') ? match[1]! : `/${match[1]!}`
}
