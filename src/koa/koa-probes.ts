import type { KoaContext } from '../context/context.ts'
import { withDeadline } from '../support/with-deadline.ts'
import type { Boot, Probes } from '../context/outer-app.ts'

/** Seconds for which a probe waits for the boot. Most probes have a time limit of one second. */
const PATIENCE = 0.5

/**
 * Returns the function that responds to probes through Koa, in front of its middleware. It returns undefined for a
 * request that is not a probe, else a promise of false if a route of the application handles the request.
 */
export function createKoaProbes(
  health: Probes,
  boot: Boot,
): (koa: KoaContext) => Promise<boolean> | undefined {
  async function respond(koa: KoaContext): Promise<boolean> {
    if (health.stage === 'starting') await boot.routesKnown()
    if (!health.isProbe(koa.req)) return false
    if (health.waitsForStart(koa.req)) await withDeadline(boot.ready(), PATIENCE).catch(() => undefined)
    const { status, headers, body } = await health.respond(koa.req)
    koa.status = status
    koa.set({ ...headers })
    koa.body = body
    return true
  }
  return (koa) => (health.mayBeProbe(koa.req) ? respond(koa) : undefined)
}
