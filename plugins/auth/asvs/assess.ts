import { APPLICATION_REQUIREMENTS, type ApplicationRequirement } from './application-requirements.ts'
import type { AsvsConfiguration, AsvsLevel } from './configuration.ts'
import { OPTION_REQUIREMENTS, type OptionRequirement } from './option-requirements.ts'

/** How far a configuration goes towards OWASP ASVS 5.0. */
export interface Assessment {
  /**
   * The highest level that it reaches, 0 for none. It is at most 1: there is no second factor (6.3.3). Pages of the
   * application (6.2.6, 6.2.7) do not count.
   */
  readonly level: 0 | 1
  /** Requirements of level 1 that options break. */
  readonly broken: readonly OptionRequirement[]
  /** What level 2 needs besides `broken`. */
  readonly forLevel2: {
    readonly options: readonly OptionRequirement[]
    readonly application: readonly ApplicationRequirement[]
  }
}

/** Judges the options of a provider with e-mail and password by the requirements of `docs/asvs.md`. Pure. */
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
