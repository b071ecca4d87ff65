import type { Cradle, DoctorFinding, Environment } from '../../src/index.ts'
import { asvsOfProvider } from './asvs/findings.ts'
import type { ProviderDescription } from './provider.ts'

/** The findings of the auth brick and of its provider for `mortar doctor`. */
export function authFindings(provider: ProviderDescription, services: Cradle): readonly DoctorFinding[] {
  const own = provider.doctor?.(services) ?? [asvsOfProvider(provider.name)]
  return [explainCookies(services.environment), ...own]
}

function explainCookies(environment: Environment): DoctorFinding {
  return {
    level: 'note',
    code: 'MORTAR_DOCTOR_COOKIES',
    found:
      environment === 'production'
        ? 'Cookies are Secure: browsers send them over https only, so a proxy that ends TLS is needed.'
        : 'Cookies are not Secure in development, so that they work over plain http.',
    remedy: 'No change is needed; NODE_ENV decides this.',
    page: 'docs/cli.md#mortar_doctor_cookies',
  }
}
