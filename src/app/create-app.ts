import type { AnyBrick } from '../bricks/brick.ts'
import type { App, MembersOfBricks, ServicesOfBricks } from './app.ts'
import { Application } from './application.ts'
import { isBrick } from '../bricks/is-brick.ts'
import { keepNextTickFast } from '../compat/node.ts'
import { openKoa } from '../koa/koa-app.ts'
import { notABrick } from './misuse.ts'
import { checkConfig, type AppConfig } from './options.ts'
import { resolveOptions } from './resolve-options.ts'

/**
 * Creates an application. It opens nothing before `ready()` or `listen()`.
 * `createApp().use(database(…))` and `createApp(defineConfig({ bricks: [database(…)] }))` are the same application.
 * @throws StartupError for an option that cannot be read; StartupErrors for several.
 */
export function createApp<const Bricks extends readonly AnyBrick[] = []>(
  config: AppConfig<Bricks> = {},
): App<MembersOfBricks<Bricks>, ServicesOfBricks<Bricks>> {
  keepNextTickFast()
  const application = new Application(resolveOptions(config), openKoa)
  for (const brick of config.bricks ?? []) {
    if (!isBrick(brick)) throw notABrick(brick)
    application.use(brick)
  }
  // Every application has the same class; only its type knows its members and services.
  return application as unknown as App<MembersOfBricks<Bricks>, ServicesOfBricks<Bricks>>
}

/**
 * Types a configuration: `createApp(defineConfig({ bricks: […] }))` types `ctx` exactly as a chain of `use` does.
 * @throws StartupError for an unknown option or one of another type.
 */
export function defineConfig<const Bricks extends readonly AnyBrick[]>(
  config: AppConfig<Bricks>,
): AppConfig<Bricks> {
  checkConfig(config, 'defineConfig()')
  return config
}
