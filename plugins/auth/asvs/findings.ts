import type { DoctorFinding, Environment } from 'mortar'
import { assess } from './assess.ts'
import type { AsvsConfiguration } from './configuration.ts'

/** `totp()` offers a factor, and routes require it. */
const MFA = ", and auth: 'mfa' on the routes of users (6.3.3)"

const FOUND = { code: 'MORTAR_DOCTOR_ASVS', page: 'docs/startup-errors.md' } as const

/**
 * Findings of `mortar doctor` about OWASP ASVS 5.0 for a provider with e-mail and password: the level of the
 * configuration, and the requirements for level 2. Options that break level 1 are a warning in production.
 */
export function asvsFindings(
  configuration: AsvsConfiguration,
  environment: Environment,
): readonly DoctorFinding[] {
  const { level, broken, forLevel2 } = assess(configuration)
  const options = forLevel2.options.map(({ set, ids }) => `${set} (${ids.join(', ')})`)
  const application = forLevel2.application.map(({ need, ids }) => `${need} (${ids.join(', ')})`).join('; ')
  const reached: DoctorFinding = {
    ...FOUND,
    level: 'note',
    found:
      level === 0
        ? 'Authentication reaches no level of OWASP ASVS 5.0.'
        : `Authentication reaches level ${level} of OWASP ASVS 5.0 (V6, V7, V9) with pages that meet 6.2.6 and 6.2.7${level === 2 ? MFA : ''}.`,
    remedy:
      'Level 2 needs ' +
      (options.length === 0 ? '' : `the options ${options.join('; ')}; and `) +
      `from the application: ${application}.`,
  }
  if (broken.length === 0) return [reached]
  const problem: DoctorFinding = {
    ...FOUND,
    level: environment === 'production' ? 'warning' : 'note',
    found: `Options break level 1 of OWASP ASVS 5.0: ${broken.flatMap(({ ids }) => ids).join(', ')}.`,
    remedy: `Set ${broken.map(({ set, ids }) => `${set} (${ids.join(', ')})`).join('; ')}.`,
  }
  return [problem, reached]
}

/** Note for a provider with accounts elsewhere. `met` is a sentence about requirements that the provider meets. */
export function asvsOfProvider(name: string, met?: string): DoctorFinding {
  return {
    ...FOUND,
    level: 'note',
    found: `The provider '${name}' is responsible for V6 and V7 of OWASP ASVS 5.0.${met === undefined ? '' : ` ${met}`}`,
    remedy: 'See its documentation for the level that it reaches.',
  }
}
