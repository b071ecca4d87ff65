/** One parameter of a header: a token or a quoted string, in which `\"` is a quote. */
const PARAMETER = /[ \t]*;[ \t]*([!#$%&'*+.^_`|~0-9a-z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/iy

/**
 * Reads the parameters after the value of a header, in linear time; names in lower case.
 * @throws the error of `fault` for text that is not a parameter, and for a repeated parameter.
 */
export function readParameters(
  header: string,
  fault: (found: 'malformed' | 'repeated') => Error,
): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (PARAMETER.lastIndex = /^[^;]*/.exec(header)![0].length; PARAMETER.lastIndex < header.length;) {
    const match = PARAMETER.exec(header)
    if (match === null) throw fault('malformed')
    const name = match[1]!.toLowerCase()
    if (parameters.has(name)) throw fault('repeated')
    parameters.set(name, match[2]?.replaceAll('\\"', '"') ?? match[3]!)
  }
  return parameters
}
