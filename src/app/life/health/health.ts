import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NamedCheck } from '../../../bricks/health-check.ts'
import type { Cradle } from '../../../contracts/services.ts'
import type { ProbeResponse } from '../../../context/outer-app.ts'
import { originForm } from '../../../context/origin-form.ts'
import { requestId } from '../../../context/request-id.ts'
import { PROBLEM_CODES } from '../../../errors/codes.ts'
import { PROBLEM_TYPE, problemOfCode } from '../../../errors/problem.ts'
import { JSON_TYPE } from '../../../pipeline/render.ts'
import { once } from '../../../support/once.ts'
import { readableError } from '../../../support/readable-error.ts'
import type { CheckRunner } from './check-runner.ts'
import type { ResolvedHealth } from './health-options.ts'

/** Stage of an application, as `/readyz` shows it. */
export type Stage = 'starting' | 'ready' | 'draining' | 'failed'

/** Parts of the application that the health responses read. */
export interface HealthContext {
  readonly options: ResolvedHealth | undefined
  readonly services: Cradle
  /** True outside production: the response then contains the messages of failed checks. */
  readonly exposeErrors: boolean
  /** Version of the application, if it is known. */
  readonly version: string | undefined
  /** True if the application has a route of its own at the path. */
  readonly hasRoute: (path: string) => boolean
}

/** For all applications of a process, such as those of tests: with tsx each `import()` costs a millisecond. */
const loadCode = once(() => import('./check-runner.ts'))

/** The responses of `/livez` and `/readyz`. They pass through no middleware and no request log. */
export class Health {
  stage: Stage = 'starting'
  private readonly context: HealthContext
  private runners: readonly CheckRunner[] = []

  constructor(context: HealthContext) {
    this.context = context
  }

  /** Sets the checks. Called once all bricks are known. */
  async use(checks: readonly NamedCheck[]): Promise<void> {
    if (checks.length === 0) return
    const { CheckRunner } = await loadCode()
    const { services } = this.context
    this.runners = checks.map((check) => new CheckRunner(check, services))
    services.gauges.add('mortar_health_check', {
      help: '1 for a check that passed when it last ran, else 0.',
      label: 'check',
      combine: 'min',
      read: () =>
        new Map(
          this.runners.flatMap(({ name, passed }) => (passed === undefined ? [] : [[name, Number(passed)]])),
        ),
    })
  }

  /** True if the request is a probe. Own routes of the application at the same path take precedence. */
  isProbe(req: IncomingMessage): boolean {
    const path = this.pathOf(req)
    return path !== undefined && !this.context.hasRoute(path)
  }

  /** True if the request is a probe unless the application has a route of its own, which is known after the boot. */
  mayBeProbe(req: IncomingMessage): boolean {
    return this.pathOf(req) !== undefined
  }

  /** True for a probe of readiness while the application starts. */
  waitsForStart(req: IncomingMessage): boolean {
    return this.stage === 'starting' && this.pathOf(req) !== this.context.options?.live
  }

  /** Returns the response to a probe. Never rejects. */
  respond(req: IncomingMessage): ProbeResponse | Promise<ProbeResponse> {
    if (req.method !== 'GET' && req.method !== 'HEAD') return this.methodNotAllowed(req)
    const isLive = this.pathOf(req) === this.context.options?.live
    return isLive ? this.json(200, { status: 'live' }) : this.readiness()
  }

  /** Aborts the active checks. */
  stop(): void {
    for (const runner of this.runners) runner.stop()
  }

  private pathOf({ url: target }: IncomingMessage): string | undefined {
    const { options } = this.context
    if (options === undefined || target === undefined) return undefined
    const url = originForm(target)
    if (matches(url, options.live)) return options.live
    return matches(url, options.ready) ? options.ready : undefined
  }

  private readiness(): ProbeResponse | Promise<ProbeResponse> {
    if (this.stage === 'ready') return this.runners.length === 0 ? this.ready([]) : this.checked()
    if (this.stage === 'failed') return this.json(503, { status: 'unready', failed: ['start'] })
    return this.json(503, { status: this.stage, failed: [] })
  }

  private async checked(): Promise<ProbeResponse> {
    const results = await Promise.all(
      this.runners.map(async (runner) => ({ name: runner.name, result: await runner.result() })),
    )
    // The application may have begun to drain in the meantime.
    if (this.stage !== 'ready') return this.readiness()
    return this.ready(
      results.flatMap(({ name, result }) => (result === undefined ? [] : [{ name, error: result.error }])),
    )
  }

  private ready(failures: readonly { readonly name: string; readonly error: unknown }[]): ProbeResponse {
    const { options, version } = this.context
    const failed = failures.map(({ name }) => name).filter((name) => options?.critical.has(name))
    const state = failed.length === 0 ? { status: 'ready', version } : { status: 'unready', failed, version }
    if (failures.length === 0) return this.json(200, state)
    const checks = Object.fromEntries(failures.map(({ name }) => [name, 'failed']))
    const errors = Object.fromEntries(failures.map(({ name, error }) => [name, readableError(error)]))
    const body = { ...state, checks, ...(this.context.exposeErrors && { errors }) }
    return this.json(failed.length === 0 ? 200 : 503, body)
  }

  private methodNotAllowed({ method }: IncomingMessage): ProbeResponse {
    const detail = `${method} is not possible here. Use GET or HEAD.`
    const body = problemOfCode('method_not_allowed', detail, requestId(undefined))
    const { status } = PROBLEM_CODES.method_not_allowed
    return this.response(status, body, { 'Content-Type': PROBLEM_TYPE, Allow: 'GET, HEAD' })
  }

  private json(status: number, body: object): ProbeResponse {
    return this.response(status, JSON.stringify(body), { 'Content-Type': JSON_TYPE })
  }

  private response(status: number, body: string, headers: ProbeResponse['headers']): ProbeResponse {
    const further = {
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'no-store',
      ...(this.stage === 'draining' && { Connection: 'close' }),
    }
    return { status, headers: { ...headers, ...further }, body }
  }
}

/** Sends a response to a probe with Node's own means. */
export async function sendHealth(health: Health, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { status, headers, body } = await health.respond(req)
  // The client may have left during the checks.
  if (!res.destroyed) res.writeHead(status, headers).end(body)
}

function matches(url: string, path: string | undefined): boolean {
  if (path === undefined || !url.startsWith(path)) return false
  const rest = url.slice(path.length)
  return rest === '' || rest[0] === '?' || rest === '/' || rest.startsWith('/?')
}
