/** Browsers in the order of the search, because most of them name Chrome and Safari too. */
const BROWSERS = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\b(?:OPR|Opera)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|Chromium)\//],
  ['Safari', /\bSafari\//],
] as const

/** Systems; a phone with Android also says Linux, and an iPhone also says Mac OS X. */
const SYSTEMS = [
  ['Windows', /\bWindows\b/],
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['macOS', /\bMac OS X\b|\bMacintosh\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
] as const

/**
 * Names a client by its `User-Agent`: `Firefox on Linux`, without versions. The result has only words of this file, so
 * it is safe in a page and in a mail.
 */
export function deviceName(agent: string | undefined): string {
  const known = (names: readonly (readonly [string, RegExp])[]) =>
    names.find(([, pattern]) => pattern.test(agent ?? ''))?.[0]
  const [browser, system] = [known(BROWSERS), known(SYSTEMS)]
  if (browser === undefined) return system === undefined ? 'Unknown client' : `Unknown client on ${system}`
  return system === undefined ? browser : `${browser} on ${system}`
}
