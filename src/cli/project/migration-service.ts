import type { Inspection } from '../../app/app.ts'
import type { MigrationService } from '../../contracts/migrations.ts'
import { StartupError } from '../../errors/startup-error.ts'

/** @throws StartupError `MORTAR_CLI_MIGRATIONS` if no brick provides the service. */
export function migrationsOf({ serviceNames, services }: Inspection): MigrationService {
  const service = serviceNames.includes('migrations') ? services['migrations'] : undefined
  if (isMigrationService(service)) return service
  throw new StartupError('The application has no database with migrations.', {
    code: 'MORTAR_CLI_MIGRATIONS',
    remedy:
      'Register a brick with the service migrations, and its folder of migrations (node_modules/mortar/docs/database.md).',
  })
}

/** Checks the shape of the service, because any brick may provide it. */
function isMigrationService(service: unknown): service is MigrationService {
  return typeof (service as Partial<MigrationService> | undefined)?.connected === 'function'
}
