import type { DoctorFinding, Environment } from '../../src/index.ts'

/** The findings of the auth brick for `mortar doctor`. */
export function authFindings(environment: Environment): readonly DoctorFinding[] {
  return [explainCookies(environment)]
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
