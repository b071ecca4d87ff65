import type { InspectedProject } from '../project/inspect-project.ts'
import { type Finding, finding } from './finding.ts'

/** The application's routes, and what it knows of the network around it. */
export function checkApplication({ options, routes, serviceNames }: InspectedProject): Finding[] {
  const inProduction = options.environment === 'production'
  const own = routes.filter(({ origin }) => origin !== 'the framework' && !origin.startsWith('brick '))
  return [
    ...(own.length === 0 ? [noRoutes()] : []),
    ...(inProduction ? checkAddress(options.appUrl) : []),
    ...(serviceNames.includes('authenticator') && options.credentials.includes('query')
      ? [explainQuery()]
      : []),
    explainProxy(options.trustProxy, inProduction),
  ]
}

function noRoutes(): Finding {
  return finding(
    'warning',
    'MORTAR_DOCTOR_ROUTES',
    'The application has no route of its own.',
    'Make the file routes/index.get.ts beside app.ts, with `export default () => …` in it.',
  )
}

function checkAddress(appUrl: string | undefined): Finding[] {
  const remedy =
    'Set appUrl in the options of createApp (from APP_URL) to the https address that browsers use.'
  if (appUrl === undefined)
    return [
      finding(
        'warning',
        'MORTAR_DOCTOR_APP_URL',
        'The application does not know its public address.',
        remedy,
      ),
    ]
  const { protocol, hostname } = new URL(appUrl)
  if (protocol === 'https:' && hostname !== 'localhost') return []
  const found = `The public address begins with ${protocol}//${hostname}, in production.`
  return [finding('warning', 'MORTAR_DOCTOR_APP_URL', found, remedy)]
}

function explainQuery(): Finding {
  return finding(
    'note',
    'MORTAR_DOCTOR_CREDENTIALS',
    'A request may carry its credential in the query, which proxies and browsers may store.',
    "Set credentials: ['header', 'cookie'] in the options of createApp to meet ASVS 14.2.1 (level 1).",
  )
}

function explainProxy(trustProxy: unknown, inProduction: boolean): Finding {
  const nobody =
    trustProxy === false || trustProxy === 0 || (Array.isArray(trustProxy) && trustProxy.length === 0)
  const found = nobody
    ? 'No proxy is trusted: the client address is that of the socket.'
    : `X-Forwarded-For is accepted from ${Array.isArray(trustProxy) ? trustProxy.join(', ') : `${String(trustProxy)} hops`}.`
  const remedy =
    nobody && inProduction
      ? 'Behind a proxy, name it in trustProxy, or all users share one budget of login attempts.'
      : 'No change is needed, unless trustProxy differs from the proxies in front.'
  return finding('note', 'MORTAR_DOCTOR_PROXY', found, remedy)
}
