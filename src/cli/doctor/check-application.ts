import { ownerOf } from '../../routing/route.ts'
import type { InspectedProject } from '../project/inspect-project.ts'
import { type Finding, finding } from './finding.ts'

/** Checks the application's routes, its public address and its trusted proxies. */
export function checkApplication({ options, routes, serviceNames }: InspectedProject): Finding[] {
  const inProduction = options.environment === 'production'
  return [
    ...(routes.every((route) => ownerOf(route) !== undefined) ? [noRoutes()] : []),
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
    'The application has no routes.',
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
        'The public address of the application is not configured.',
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
    "Set credentials: ['header', 'cookie'] in the options of createApp to meet ASVS 14.2.1 (level 1). One-use tickets need the query.",
  )
}

function explainProxy(trustProxy: unknown, inProduction: boolean): Finding {
  const nobody =
    trustProxy === false || trustProxy === 0 || (Array.isArray(trustProxy) && trustProxy.length === 0)
  const found = nobody
    ? 'No trusted proxy is configured: the client address is the address of the socket.'
    : `X-Forwarded-For is accepted from ${Array.isArray(trustProxy) ? trustProxy.join(', ') : `${String(trustProxy)} hops`}.`
  const remedy =
    nobody && inProduction
      ? 'If the application runs behind a proxy, name the proxy in trustProxy. Otherwise all users share one limit of login attempts.'
      : 'No change is needed if trustProxy matches the proxies in front of the application.'
  return finding('note', 'MORTAR_DOCTOR_PROXY', found, remedy)
}
