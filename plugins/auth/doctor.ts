import type { BrickServices, DoctorFinding, Environment } from 'mortar'
import { schemaFindings } from 'mortar/kit'
import { schemaStatements } from './accounts/schema-entries.ts'
import { asvsOfProvider } from './asvs/findings.ts'
import type { ProviderDescription } from './provider.ts'
import { fault } from './startup-codes.ts'

/** Returns the findings of the auth brick and its provider for `mortar doctor`. */
export async function authFindings(
  provider: ProviderDescription,
  services: BrickServices,
): Promise<readonly DoctorFinding[]> {
  const own = (await provider.doctor?.(services)) ?? [asvsOfProvider(provider.name)]
  const unknown = await schemaFindings(services, provider.tables ?? [], (missing) =>
    fault(
      'MORTAR_DOCTOR_TABLES',
      `The schema module lacks tables that authentication works on: ${missing.join(', ')}.`,
      {
        remedy: `Write ${schemaStatements(missing)} in it, pass it to database() as entities, then generate and run a migration.`,
      },
    ),
  )
  return [explainCookies(services.environment), ...unknown, ...own]
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
    page: 'docs/startup-errors.md',
  }
}
