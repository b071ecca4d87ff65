import { APPLICATION_REQUIREMENTS, type ApplicationRequirement } from './application-requirements.ts'
import type { AsvsConfiguration, AsvsLevel } from './configuration.ts'
import { OPTION_REQUIREMENTS, type OptionRequirement } from './option-requirements.ts'

/** Result of checking a configuration against OWASP ASVS 5.0. */
export interface Assessment {
  /**
   * Highest level reached, 0 for none and at most 1, since there is no second factor (6.3.3). Pages of the application
   * (6.2.6, 6.2.7) are not considered.
   */
  readonly level: 0 | 1
  /** Requirements of level 1 that options break. */
  readonly broken: readonly OptionRequirement[]
  /** Further requirements of level 2 besides `broken`. */
  readonly forLevel2: {
    readonly options: readonly OptionRequirement[]
    readonly application: readonly ApplicationRequirement[]
  }
}

/** Checks the options of a provider with e-mail and password by the requirements of `docs/asvs.md`. Pure. */
export function assess(configuration: AsvsConfiguration): Assessment {
  const missing = OPTION_REQUIREMENTS.filter((requirement) => !requirement.isMet(configuration))
  const at = (level: AsvsLevel) => missing.filter((requirement) => requirement.level === level)
  const broken = at(1)
  return {
    level: broken.length === 0 ? 1 : 0,
    broken,
    forLevel2: {
      options: at(2),
      application: APPLICATION_REQUIREMENTS.filter(({ level }) => level === 2),
    },
  }
}
