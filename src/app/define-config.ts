import type { AnyBrick } from '../bricks/brick.ts'
import type { AppConfig } from './options.ts'

/** Types a configuration, so that `createApp(defineConfig({ bricks: […] }))` knows `ctx` exactly as a chain of `use` does. */
export function defineConfig<const Bricks extends readonly AnyBrick[]>(
  config: AppConfig<Bricks>,
): AppConfig<Bricks> {
  return config
}
