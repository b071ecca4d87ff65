import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type * as OpenTelemetry from '@opentelemetry/api'
import type { Context, Span, SpanContext } from '@opentelemetry/api'
import { JOB_ADDED_CHANNEL, JOB_CHANNEL, type ObservedJob } from 'mortar/kit'
import { typeOf } from './conventions.ts'

const SPAN = Symbol('span')
/** The channel adds the error of a failed attempt. */
type Traced = ObservedJob & { [SPAN]?: Span; readonly error?: unknown }

/**
 * Traces the jobs of one application: a span for each attempt, with a link to the span that added the job. It is a trace
 * of its own, because a job may run hours later.
 * @param services identify the application, because all applications of a process share the channels.
 * @returns a function that ends the tracing.
 */
export function traceJobs(services: object, api: typeof OpenTelemetry): () => void {
  const { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = api
  const tracer = trace.getTracer('mortar')

  const added = (message: unknown): void => {
    const job = message as Traced
    const active = trace.getSpanContext(context.active())
    if (job.services === services && active !== undefined && api.isSpanContextValid(active))
      job.trace = `00-${active.traceId}-${active.spanId}-${active.traceFlags.toString(16).padStart(2, '0')}`
  }
  function begin(job: Traced): Context {
    const origin = readTrace(job.trace)
    const span = tracer.startSpan(
      `process ${job.name}`,
      {
        kind: SpanKind.CONSUMER,
        attributes: attributesOf(job),
        ...(origin !== undefined && { links: [{ context: origin }] }),
      },
      ROOT_CONTEXT,
    )
    job[SPAN] = span
    const { traceId, spanId } = span.spanContext()
    if (api.isSpanContextValid(span.spanContext())) job.logFields = { trace_id: traceId, span_id: spanId }
    return trace.setSpan(ROOT_CONTEXT, span)
  }
  const end = (message: unknown): void => {
    const { [SPAN]: span, error } = message as Traced
    if (span === undefined || (message as Traced).services !== services) return
    if (error !== undefined) {
      span.setAttribute('error.type', typeOf(error) ?? '_OTHER')
      span.setStatus({ code: SpanStatusCode.ERROR })
    }
    span.end()
  }

  const start = (message: unknown): void => {
    const job = message as Traced
    if (job.services !== services) return
    const active = begin(job)
    job.around = (work) => context.with(active, work)
  }
  subscribe(`tracing:${JOB_CHANNEL}:start`, start)
  subscribe(`tracing:${JOB_CHANNEL}:asyncEnd`, end)
  subscribe(JOB_ADDED_CHANNEL, added)
  return () => {
    unsubscribe(`tracing:${JOB_CHANNEL}:start`, start)
    unsubscribe(`tracing:${JOB_CHANNEL}:asyncEnd`, end)
    unsubscribe(JOB_ADDED_CHANNEL, added)
  }
}

/** The semantic conventions for messaging. The data of a job is not exported. */
function attributesOf({ id, name, attempt }: ObservedJob): OpenTelemetry.Attributes {
  return {
    'messaging.system': 'mortar',
    'messaging.operation.type': 'process',
    'messaging.destination.name': name,
    'messaging.message.id': id,
    'mortar.job.attempt': attempt,
  }
}

/** Reads the W3C `traceparent` of a row. */
function readTrace(text = ''): SpanContext | undefined {
  const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}
