import { optionalService } from '../container/optional-service.ts'
import type { DoctorFinding } from '../contracts/doctor-finding.ts'
import type { MigrationService } from '../contracts/migrations.ts'
import type { StartupError } from '../errors/startup-error.ts'
import { findingsOf } from '../files/import-folder.ts'

/**
 * Returns an error as a finding of `mortar doctor` if the application's schema module lacks some of these tables; none
 * where no brick knows that module.
 */
export async function schemaFindings(
  services: object,
  tables: readonly string[],
  error: (lacking: readonly string[]) => StartupError,
): Promise<readonly DoctorFinding[]> {
  const known = optionalService<Partial<MigrationService>>(services, 'migrations')?.tables?.()
  const lacking = known === undefined ? [] : tables.filter((table) => !known.includes(table))
  return lacking.length === 0
    ? []
    : findingsOf(() => Promise.reject(error(lacking)), 'docs/startup-errors.md')
}
