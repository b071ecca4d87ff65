import type { AnyBrick } from '../../../bricks/brick.ts'
import { type HealthCheck, type NamedCheck, readCheck } from '../../../bricks/health-check.ts'
import { StartupError } from '../../../errors/startup-error.ts'
import { didYouMean } from '../../../support/nearest.ts'

/**
 * Collects the checks of the bricks and of the application itself.
 * @param critical names of the checks that the application needs to be ready.
 * @throws StartupError for a wrong check, for two checks of one name, and for a critical name without a check.
 */
export function collectChecks(
  bricks: readonly AnyBrick[],
  own: readonly NamedCheck[],
  critical: ReadonlySet<string>,
): readonly NamedCheck[] {
  const ofBricks = bricks.flatMap(({ name, checks = {} }) =>
    Object.entries(checks).map(([check, definition]) =>
      readCheck(check, definition as HealthCheck, `the brick '${name}'`),
    ),
  )
  const checks = new Map<string, NamedCheck>()
  for (const check of [...ofBricks, ...own]) {
    const other = checks.get(check.name)
    if (other !== undefined) throw duplicate(check, other)
    checks.set(check.name, check)
  }
  for (const name of critical) if (!checks.has(name)) throw unknown(name, [...checks.keys()])
  return [...checks.values()]
}

function duplicate({ name, origin }: NamedCheck, other: NamedCheck): StartupError {
  const owners = origin === other.origin ? `${origin} twice` : `${other.origin} and ${origin}`
  return new StartupError(`The check '${name}' is registered by ${owners}.`, {
    code: 'MORTAR_CHECK_DUPLICATE',
    remedy: 'Rename one of them.',
  })
}

function unknown(name: string, known: readonly string[]): StartupError {
  const names = known.length === 0 ? 'No check is registered.' : `The checks are ${known.join(', ')}.`
  return new StartupError(`The option health.critical names '${name}', but no check has that name.`, {
    code: 'MORTAR_CHECK_UNKNOWN',
    remedy: didYouMean(name, known, names),
  })
}
