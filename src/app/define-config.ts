import type { AnyBrick } from '../bricks/brick.ts'
import { checkConfig, type AppConfig } from './options.ts'

/**
 * Types a configuration, so that `createApp(defineConfig({ bricks: […] }))` knows `ctx` exactly as a chain of `use` does.
 * @throws StartupError for an unknown option or one of another type.
 */
export function defineConfig<const Bricks extends readonly AnyBrick[]>(
  config: AppConfig<Bricks>,
): AppConfig<Bricks> {
  checkConfig(config, 'defineConfig()')
  return config
}
