import type { Registry } from 'prom-client'
import { type Brick, createRouter, defineBrick, singleton } from 'mortar'
import { isCommand, shareReport } from 'mortar/kit'
import { readerOf } from './access.ts'
import { readSettings, refuseOpen, type MetricsOptions, type MetricsSettings } from './options.ts'
import { loadPromClient } from './prom-client.ts'
import { measureRequests } from './requests.ts'
import { createScrape, type Scrape } from './scrape.ts'
import { startServer } from './server.ts'
import { STARTUP_CODES } from './startup-codes.ts'

/** The service of the brick: the prom-client registry of the application, for metrics of its own. */
export interface MetricsServices {
  readonly metrics: Registry
}

// Tells other bricks the types of the services.
declare module 'mortar' {
  interface KnownServices extends MetricsServices {}
}

/** The state of a started application. */
interface Running {
  readonly scrape: Scrape
  readonly stop: readonly (() => unknown)[]
}

/**
 * Metrics for Prometheus: durations of requests by method, route and status, requests in flight, gauges of bricks and
 * the process. In production they need a token or a port of their own.
 * @throws StartupError for an invalid option; at the start `MORTAR_METRICS_OPEN` or `MORTAR_METRICS_LISTEN`.
 */
export function metrics(options: MetricsOptions = {}): Brick<'metrics', MetricsServices> {
  const settings = readSettings(options)
  /** One brick object can serve several applications, each with a registry. */
  const running = new WeakMap<Registry, Running>()
  async function end({ metrics: registry }: MetricsServices): Promise<void> {
    for (const stop of running.get(registry)?.stop ?? []) await stop()
    running.delete(registry)
    registry.clear()
  }
  return defineBrick({
    name: 'metrics',
    peers: { from: import.meta.url },
    startupCodes: STARTUP_CODES,
    services: { metrics: singleton(() => new (loadPromClient().Registry)()) },
    routes: ({ environment }) => {
      refuseOpen(settings, environment)
      return settings.server === undefined ? [metricsRouter(settings, running)] : []
    },
    start: async (services) => {
      // A command serves nobody, and its process reports no metrics.
      if (isCommand()) return
      const { metrics: registry, gauges } = services
      const { prefix, path } = settings
      if (settings.process) loadPromClient().collectDefaultMetrics({ register: registry, prefix })
      const scrape = createScrape({
        registry,
        gauges,
        prefix,
        share: (own, combineEnded) => shareReport(`metrics ${prefix}${path}`, own, { combineEnded }),
      })
      const stop: (() => unknown)[] = [measureRequests(services, registry, settings), scrape.stop]
      running.set(registry, { scrape, stop })
      if (settings.server === undefined) return
      try {
        stop.push(await startServer(settings, scrape))
      } catch (error) {
        // A brick whose start fails is not stopped.
        await end(services)
        throw error
      }
    },
    stop: end,
  })
}

function metricsRouter(settings: MetricsSettings, running: WeakMap<Registry, Running>) {
  const refuseStranger = readerOf(settings)
  const definition = { hidden: true, logRequests: false }
  return createRouter().get(settings.path, definition, async (ctx) => {
    refuseStranger(ctx.koa.req)
    const { metrics: registry } = ctx.services as unknown as MetricsServices
    const { type, text } = await running.get(registry)!.scrape.render()
    ctx.set('Content-Type', type)
    ctx.set('Cache-Control', 'no-store')
    return text
  })
}
