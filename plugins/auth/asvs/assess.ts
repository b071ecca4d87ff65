import { APPLICATION_REQUIREMENTS } from './application-requirements.ts'
import type { AsvsConfiguration, AsvsLevel } from './configuration.ts'
import { OPTION_REQUIREMENTS } from './option-requirements.ts'

/** Checks the options of a provider with e-mail and password by the requirements of `docs/asvs.md`. Pure. */
export function assess(configuration: AsvsConfiguration) {
  const missing = OPTION_REQUIREMENTS.filter((requirement) => !requirement.isMet(configuration))
  const at = (level: AsvsLevel) => missing.filter((requirement) => requirement.level === level)
  const [broken, options] = [at(1), at(2)]
  const reached = options.length === 0 ? 2 : 1
  return {
    /**
     * Highest level reached, 0 for none and at most 2. Parts of the application, such as its pages (6.2.6, 6.2.7), are not
     * considered.
     */
    level: broken.length === 0 ? reached : 0,
    /** Requirements of level 1 that options break. */
    broken,
    /** Further requirements of level 2 besides `broken`. */
    forLevel2: {
      options,
      application: APPLICATION_REQUIREMENTS.filter(({ level }) => level === 2),
    },
  }
}
