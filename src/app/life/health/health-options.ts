import { wrongOption, type OptionChecks } from '../../../support/check-options.ts'

/** Options of the health responses. */
export interface HealthOptions {
  /** Path of the response that the process is alive; `/livez` by default, `false` for none. */
  readonly live?: string | false
  /** Path of the response that the process accepts traffic; `/readyz` by default, `false` for none. */
  readonly ready?: string | false
  /** Names of checks whose failure makes the process unready. Other failures are only reported. None by default. */
  readonly critical?: readonly string[]
}

/** Kinds of the options. */
export const HEALTH_KEYS = {
  live: ['string', 'false'],
  ready: ['string', 'false'],
  critical: 'strings',
} as const satisfies OptionChecks<HealthOptions>['keys']

/** The health options with their defaults; a path is undefined if it is switched off. */
export interface ResolvedHealth {
  readonly live: string | undefined
  readonly ready: string | undefined
  readonly critical: ReadonlySet<string>
}

/** @throws StartupError `MORTAR_OPTION` for a value that is not a path, or for equal paths. */
export function resolveHealth(options: HealthOptions | false = {}): ResolvedHealth | undefined {
  if (options === false) return undefined
  const live = pathOf('live', options.live ?? '/livez')
  const ready = pathOf('ready', options.ready ?? '/readyz')
  if (live !== undefined && live === ready)
    throw wrongOption('health', `has '${live}' as live and as ready`, 'Give them different paths.')
  return { live, ready, critical: new Set(options.critical) }
}

function pathOf(option: string, path: string | false): string | undefined {
  if (path === false) return undefined
  if (/^\/[\w.~/-]*[\w.~-]$/.test(path)) return path
  throw wrongOption(
    `health.${option}`,
    'is not a path',
    `Write a path without parameters, such as '/health'. \`false\` switches ${option} off.`,
  )
}
