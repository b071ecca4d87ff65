import { APPLICATION_REQUIREMENTS, type ApplicationRequirement } from './application-requirements.ts'
import type { AsvsConfiguration, AsvsLevel } from './configuration.ts'
import { OPTION_REQUIREMENTS, type OptionRequirement } from './option-requirements.ts'

/** Result of checking a configuration against OWASP ASVS 5.0. */
export interface Assessment {
  /**
   * Highest level reached, 0 for none and at most 2. Parts of the application, such as its pages (6.2.6, 6.2.7), are not
   * considered.
   */
  readonly level: 0 | AsvsLevel
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
  const [broken, options] = [at(1), at(2)]
  const reached = options.length === 0 ? 2 : 1
  return {
    level: broken.length === 0 ? reached : 0,
    broken,
    forLevel2: {
      options,
      application: APPLICATION_REQUIREMENTS.filter(({ level }) => level === 2),
    },
  }
}
