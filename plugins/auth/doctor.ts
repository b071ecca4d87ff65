import type { BrickServices, Cradle, DoctorFinding, Environment, MigrationService } from 'mortar'
import { optionalService } from 'mortar/kit'
import { schemaStatements } from './accounts/schema-entries.ts'
import { asvsOfProvider } from './asvs/findings.ts'
import type { ProviderDescription } from './provider.ts'

/** Returns the findings of the auth brick and its provider for `mortar doctor`. */
export async function authFindings(
  provider: ProviderDescription,
  services: BrickServices,
): Promise<readonly DoctorFinding[]> {
  const own = (await provider.doctor?.(services)) ?? [asvsOfProvider(provider.name)]
  return [explainCookies(services.environment), ...checkTables(provider.tables ?? [], services), ...own]
}

/** Tables of the provider that the application's schema module lacks, where a brick knows that module. */
function checkTables(needed: readonly string[], services: Cradle): DoctorFinding[] {
  const migrations = optionalService<Partial<MigrationService>>(services, 'migrations')
  const described = migrations?.tables?.()
  const missing = described === undefined ? [] : needed.filter((table) => !described.includes(table))
  if (missing.length === 0) return []
  return [
    {
      level: 'error',
      code: 'MORTAR_DOCTOR_TABLES',
      found: `The schema module lacks tables that authentication works on: ${missing.join(', ')}.`,
      remedy: `Write ${schemaStatements(missing)} in it, then generate and run a migration.`,
      page: 'docs/startup-errors.md',
    },
  ]
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
